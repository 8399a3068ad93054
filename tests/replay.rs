//! Every captured event of both agents, posted to a running daemon.

mod answer;
