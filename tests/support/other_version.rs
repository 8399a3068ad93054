//! A daemon of another version, as far as it can be seen.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use fs_err::File;
use serde_json::{Value, json};

use super::home::TestHome;

/// It has the data directory and the port, and
/// ends when it is told to.
pub struct OtherVersion {
    served: JoinHandle<()>,
    ended: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl OtherVersion {
    /// `obeys` says whether it ends when it is told to; `status`, if it has any to tell, is what it says of
    /// itself.
    pub fn start(home: &TestHome, version: &str, obeys: bool, status: Option<&Value>) -> Self {
        let data = home.home().join(".tma1/data");
        fs_err::create_dir_all(&data).unwrap();
        let token = home.home().join(".tma1/token");
        fs_err::write(&token, "ab".repeat(32)).unwrap();
        fs_err::set_permissions(&token, PermissionsExt::from_mode(0o600)).unwrap();
        let mut lock = File::create(data.join("daemon.lock")).unwrap();
        lock.try_lock().unwrap();
        write!(lock, "{} {}", std::process::id(), home.port()).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, home.port())).unwrap();
        listener.set_nonblocking(true).unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (told, seen) = (Arc::clone(&ended), Arc::clone(&requests));
        let pid = std::process::id();
        let health = json!({"status": "ok", "version": version, "protocol": "1", "pid": pid});
        let health = health.to_string();
        let own_status = status.map(ToString::to_string);
        let served = std::thread::spawn(move || {
            while !told.load(Ordering::SeqCst) {
                let Ok((mut stream, _)) = listener.accept() else {
                    std::thread::sleep(Duration::from_millis(2));
                    continue;
                };
                stream.set_nonblocking(false).unwrap();
                let mut request = [0; 4096];
                let length = stream.read(&mut request).unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let target = request.split(' ').nth(1).unwrap_or_default().split('?').next();
                let stops = target == Some("/api/stop") && obeys;
                let (status, body) = match (target, &own_status) {
                    (Some("/health"), _) => ("200 OK", health.as_str()),
                    (Some("/api/hooks"), _) => ("200 OK", ""),
                    (Some("/api/status"), Some(status)) => ("200 OK", status.as_str()),
                    _ if stops => ("200 OK", "{}"),
                    _ => ("404 Not Found", "{}"),
                };
                let length = body.len();
                drop(write!(
                    stream,
                    "HTTP/1.1 {status}\r\ntma1-protocol: 1\r\nContent-Length: {length}\r\n\r\n{body}"
                ));
                seen.lock().unwrap().push(request);
                if stops {
                    told.store(true, Ordering::SeqCst);
                }
            }
            // The last events are logged before the next one has the log.
            std::thread::sleep(Duration::from_millis(200));
            drop(lock);
        });
        Self { served, ended, requests }
    }

    /// Ends it, and returns whether it was told to before.
    pub fn end(self) -> bool {
        let told = self.ended.swap(true, Ordering::SeqCst);
        self.served.join().unwrap();
        told
    }

    /// Whether it was told to end.
    pub fn was_asked_to_stop(&self) -> bool {
        self.requests.lock().unwrap().iter().any(|request| request.contains("/api/stop"))
    }

    /// Whether nobody has talked to it.
    pub fn was_asked_nothing(&self) -> bool {
        self.requests.lock().unwrap().is_empty()
    }
}
