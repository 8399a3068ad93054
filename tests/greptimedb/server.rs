//! A server that answers as GreptimeDB does, for what an exporter asks of it.
//!
//! What a real one was seen to answer, it answers with the same bytes; beyond that it keeps to the rules
//! of its dialect, as they were measured. It stores rows by primary key and time, the last one that came
//! wins.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use super::recorded::{Exchange, exchanges};
use super::sql::{Literal, Refusal, Statement, parse};

/// How it behaves.
#[derive(Debug, Clone, Default)]
pub struct Behaviour {
    /// Connections are closed at once.
    pub is_down: bool,
    /// An answer to an INSERT comes after this, when the rows are stored.
    pub delay: Duration,
    /// Every INSERT is answered with this status and body.
    pub failure: Option<(u16, String)>,
    /// An INSERT with this text in it is refused as a row that is wrong.
    pub bad_text: Option<String>,
    /// The body that is too large, in bytes.
    pub body_limit: Option<usize>,
    /// Who may do what: `name:password`, and whether that includes SELECT.
    pub users: Vec<(String, bool)>,
    /// A statement that is stored is answered by closing the connection, so many times.
    pub cut_answers: usize,
}

type Row = BTreeMap<String, Literal>;

#[derive(Debug, Default)]
struct Stored {
    /// Type and whether it must be there, by name.
    columns: BTreeMap<String, (String, bool)>,
    key: Vec<String>,
    ttl: String,
    rows: HashMap<Vec<String>, Row>,
    appends: bool,
}

#[derive(Debug, Default)]
struct State {
    behaviour: Behaviour,
    databases: Vec<String>,
    tables: BTreeMap<String, Stored>,
    statements: Vec<String>,
    inserts: usize,
}

/// The server; it ends with the test.
#[derive(Debug, Clone)]
pub struct Server {
    port: u16,
    recorded: Arc<[Exchange]>,
    state: Arc<Mutex<State>>,
}

struct Request {
    path: String,
    authorization: Option<String>,
    content_type: Option<String>,
    body: Vec<u8>,
}

impl Server {
    /// One that is up.
    pub fn start() -> Self {
        Self::with(Behaviour::default())
    }

    pub fn with(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { behaviour, ..State::default() }));
        let server = Self { port, recorded: exchanges().into(), state };
        let accepting = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = accepting.clone();
                std::thread::spawn(move || drop(server.serve(&stream)));
            }
        });
        server
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.lock().behaviour);
    }

    /// How many rows a table has.
    pub fn count(&self, table: &str) -> usize {
        self.lock().tables.get(table).map_or(0, |table| table.rows.len())
    }

    /// The values of a column, in the order of time.
    pub fn column(&self, table: &str, column: &str) -> Vec<Literal> {
        let state = self.lock();
        let mut rows: Vec<_> = state.tables.get(table).map_or(Vec::new(), |table| {
            table.rows.values().map(|row| (row["ts"].clone(), row[column].clone())).collect()
        });
        rows.sort_by_key(|(ts, _)| match ts {
            Literal::Integer(ts) => *ts,
            _ => 0,
        });
        rows.into_iter().map(|(_, value)| value).collect()
    }

    /// How many INSERTs came.
    pub fn inserts(&self) -> usize {
        self.lock().inserts
    }

    /// Every statement that came.
    pub fn statements(&self) -> Vec<String> {
        self.lock().statements.clone()
    }

    /// The time to live of a table.
    pub fn ttl(&self, table: &str) -> String {
        self.lock().tables[table].ttl.clone()
    }

    pub fn set_append_mode(&self, table: &str) {
        self.lock().tables.get_mut(table).unwrap().appends = true;
    }

    pub fn drop_column(&self, table: &str, column: &str) {
        self.lock().tables.get_mut(table).unwrap().columns.remove(column);
    }

    pub fn has_column(&self, table: &str, column: &str) -> bool {
        self.lock().tables[table].columns.contains_key(column)
    }

    pub fn drop_tables(&self) {
        self.lock().tables.clear();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        while let Some(request) = read_request(&mut reader)? {
            if self.lock().behaviour.is_down {
                return Ok(());
            }
            let (status, body) = self.answer(&request);
            let delay = self.lock().behaviour.delay;
            if request.body.windows(8).any(|it| it == b"sql=INSE") {
                std::thread::sleep(delay);
                let mut state = self.lock();
                if state.behaviour.cut_answers > 0 && status == 200 {
                    state.behaviour.cut_answers -= 1;
                    return Ok(());
                }
            }
            write!(
                stream,
                "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            )?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> (u16, String) {
        let form = "application/x-www-form-urlencoded";
        if request.content_type.as_deref().is_none_or(|kind| !kind.starts_with(form)) {
            return (415, format!("Form requests must have `Content-Type: {form}`"));
        }
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if path != "/v1/sql" {
            return (404, String::new());
        }
        if self.lock().behaviour.body_limit.is_some_and(|limit| request.body.len() > limit) {
            return (413, "Failed to buffer the request body: length limit exceeded".to_owned());
        }
        let find = |pairs: &[u8], name: &str| {
            let found = form_urlencoded::parse(pairs).find(|(found, _)| found == name);
            found.map(|(_, value)| value.into_owned())
        };
        let sql = find(&request.body, "sql").unwrap_or_default();
        let database = find(query.as_bytes(), "db");
        let answer = self.run(request, database.as_deref(), &sql);
        // It is an answer to the same statement, if its tables were then as ours are now.
        let is_same = |it: &&Exchange| {
            it.path == request.path
                && it.sql.as_deref() == Some(&sql)
                && (it.status == 200) == answer.is_ok()
        };
        if let Some(exchange) = self.recorded.iter().find(is_same) {
            return (exchange.status, exchange.body());
        }
        match answer {
            Ok(output) => (200, json!({"output": [output], "execution_time_ms": 1}).to_string()),
            Err((status, Refusal(0, error))) => (status, error),
            Err((status, Refusal(code, error))) => {
                (status, json!({"code": code, "error": error, "execution_time_ms": 1}).to_string())
            }
        }
    }

    fn run(
        &self,
        request: &Request,
        database: Option<&str>,
        sql: &str,
    ) -> Result<Value, (u16, Refusal)> {
        let mut state = self.lock();
        state.statements.push(sql.to_owned());
        let may_select = state.permitted(request).map_err(|refusal| (401, refusal))?;
        if sql.starts_with("SELECT ") && !may_select {
            let error = "User is not authorized to perform this action".to_owned();
            return Err((403, Refusal(7006, error)));
        }
        if let Some(name) = database
            && !state.databases.iter().any(|known| known == name)
        {
            return Err((400, Refusal(4004, format!("Database not found: {name}"))));
        }
        state.execute(sql).map_err(|refusal| match &state.behaviour.failure {
            Some((status, _)) if refusal.0 == 0 => (*status, refusal),
            _ => (400, refusal),
        })
    }
}

impl State {
    /// Whether the user may SELECT.
    fn permitted(&self, request: &Request) -> Result<bool, Refusal> {
        if self.behaviour.users.is_empty() {
            return Ok(true);
        }
        let Some(header) = &request.authorization else {
            return Err(Refusal(7003, "Not found http or grpc authorization header".to_owned()));
        };
        let encode = |user: &str| base64::prelude::BASE64_STANDARD.encode(user);
        let found = self
            .behaviour
            .users
            .iter()
            .find(|(user, _)| *header == format!("Basic {}", encode(user)));
        let wrong =
            || Refusal(7002, "Username and password does not match, username: tma1".to_owned());
        found.map(|(_, may_select)| *may_select).ok_or_else(wrong)
    }

    fn execute(&mut self, sql: &str) -> Result<Value, Refusal> {
        match parse(sql)? {
            Statement::CreateDatabase(name) => {
                self.databases.push(name);
                Ok(json!({"affectedrows": 1}))
            }
            Statement::CreateTable { name, columns, key, ttl } => {
                self.tables.entry(name).or_insert_with(|| Stored {
                    columns: columns
                        .into_iter()
                        .map(|(name, kind, it)| (name, (kind, it)))
                        .collect(),
                    key,
                    ttl,
                    ..Stored::default()
                });
                Ok(json!({"affectedrows": 0}))
            }
            Statement::AddColumns { table, columns } => {
                let table = self.table(&table)?;
                for (name, kind) in columns {
                    table.columns.entry(name).or_insert((kind, false));
                }
                Ok(json!({"affectedrows": 0}))
            }
            Statement::Insert { table, columns, rows } => {
                self.inserts += 1;
                if let Some((_, body)) = &self.behaviour.failure {
                    return Err(Refusal(0, body.clone()));
                }
                let bad = self.behaviour.bad_text.clone();
                let stored = self.table(&table)?;
                let count = rows.len();
                let rows: Vec<Row> = rows
                    .into_iter()
                    .map(|row| columns.iter().cloned().zip(row).collect())
                    .collect();
                for row in &rows {
                    stored.check(row)?;
                    let is_bad = |it: &Literal| matches!((it, &bad), (Literal::Text(it), Some(bad)) if it.contains(bad));
                    if row.values().any(is_bad) {
                        return Err(Refusal(2000, "Failed to parse value: it is bad".to_owned()));
                    }
                }
                for row in rows {
                    stored.store(row);
                }
                Ok(json!({"affectedrows": count}))
            }
            Statement::Select(sql) if sql.contains("information_schema.columns") => {
                Ok(records(&self.columns()))
            }
            Statement::Select(sql) if sql.contains("information_schema.tables") => {
                Ok(records(&self.options()))
            }
            Statement::Select(_) => Ok(records(&[])),
        }
    }

    fn table(&mut self, name: &str) -> Result<&mut Stored, Refusal> {
        let missing = || Refusal(4001, format!("Table not found: greptime.tma1.{name}"));
        self.tables.get_mut(name).ok_or_else(missing)
    }

    fn columns(&self) -> Vec<Value> {
        let part = |table: &Stored, name: &String| match name.as_str() {
            "ts" => "TIMESTAMP",
            _ if table.key.contains(name) => "TAG",
            _ => "FIELD",
        };
        let mut rows = Vec::new();
        for (name, table) in &self.tables {
            for (column, (kind, _)) in &table.columns {
                rows.push(json!([name, column, kind.to_lowercase(), part(table, column)]));
            }
        }
        rows
    }

    fn options(&self) -> Vec<Value> {
        let options = |table: &Stored| {
            let append = if table.appends { " append_mode=true" } else { "" };
            format!("ttl={}{append}", table.ttl)
        };
        self.tables.iter().map(|(name, table)| json!([name, options(table)])).collect()
    }
}

impl Stored {
    fn check(&self, row: &Row) -> Result<(), Refusal> {
        for (name, value) in row {
            let Some((kind, is_required)) = self.columns.get(name) else {
                return Err(Refusal(1004, format!("Cannot find column by name: {name}")));
            };
            let fits = match value {
                Literal::Null if *is_required => {
                    let error = format!(
                        "Invalid request to region 1(1, 0), reason: column {name} is not null but input has null"
                    );
                    return Err(Refusal(1004, error));
                }
                Literal::Null => true,
                Literal::Text(_) => kind == "STRING",
                Literal::Integer(_) => kind == "BIGINT" || kind == "TIMESTAMP(9)",
                Literal::Boolean(_) => kind == "BOOLEAN",
            };
            if !fits {
                return Err(Refusal(1004, format!("Column {name} expect type: {kind}")));
            }
        }
        let missing = self.columns.iter().find(|(name, (_, it))| *it && !row.contains_key(*name));
        missing.map_or(Ok(()), |(name, _)| {
            let error = format!("Invalid request to region 1(1, 0), reason: missing column {name}");
            Err(Refusal(1004, error))
        })
    }

    fn store(&mut self, row: Row) {
        let mut key: Vec<_> = self.key.iter().map(|name| format!("{:?}", row[name])).collect();
        key.push(format!("{:?}", row["ts"]));
        if self.appends {
            key.push(self.rows.len().to_string());
        }
        self.rows.insert(key, row);
    }
}

fn records(rows: &[Value]) -> Value {
    json!({"records": {"schema": {"column_schemas": []}, "rows": rows, "total_rows": rows.len()}})
}

/// The next request of a connection; none at its end.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut request = Request { path, authorization: None, content_type: None, body: Vec::new() };
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let value = value.trim().to_owned();
        match name.to_ascii_lowercase().as_str() {
            "authorization" => request.authorization = Some(value),
            "content-type" => request.content_type = Some(value),
            "content-length" => length = value.parse().unwrap(),
            _ => {}
        }
    }
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}
