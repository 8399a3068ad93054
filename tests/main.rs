//! Integration tests: one module a capability, each with the real binary in a temporary HOME.

#[cfg(test)]
mod install;
