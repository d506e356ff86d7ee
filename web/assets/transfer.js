// The way of one file to the server, in resumable pieces (tus). It waits while the browser is offline, tries again while
// the server fails, and goes on where the server stands.
(function () {
  "use strict";
  var ENDPOINT = "/api/v1/evidence", CHUNK = 16 << 20; // bytes in a request
  var FIRST = 1, LONGEST = 30, LONGEST_ASKED = 300; // seconds between tries; the most that a server may ask for
  var begun = window.uploadsBegun;

  // uploadTransfer makes the transfer of a file. It tells on.progress(bytes sent), on.wait(why), where why has
  // offline, what was said because of which it waits, and the seconds until the next try, on.going() as it goes on, on.anew() where the server has lost what
  // it had, and at last on.done(run, body) or on.failed(problem); a problem is changed where the file on the disk is.
  function transfer(file, metadata, on) {
    var key = begun.key(file, metadata), upload = null, active = false, waiting = false, timer = 0;
    var entry = null; // of what has begun; another tab that ends the same upload takes it out of the browser's memory
    var tries = 0, arrived = 0, run = null, body = "";
    var self = { key: key, start: start, stop: stop, forget: forget };

    function start() {
      stop();
      active = true;
      window.addEventListener("online", online);
      window.addEventListener("offline", offline);
      attempt();
    }
    // stop keeps what has arrived: start goes on with it.
    function stop() {
      active = waiting = false;
      clearTimeout(timer);
      window.removeEventListener("online", online);
      window.removeEventListener("offline", offline);
      abort();
    }
    function abort() {
      if (upload) upload.abort();
      upload = null;
    }
    function forget() {
      var before = begun.find(key) || entry;
      stop();
      if (before) begun.forget(before.url);
    }
    function online() { if (waiting) { tries = 0; attempt(); } }
    function offline() { again({ text: "the browser is offline" }, null); }

    // A browser that calls itself offline may still reach a server on this machine, so it is tried; but that it goes is
    // said only once it does.
    function attempt() {
      clearTimeout(timer);
      abort();
      if (navigator.onLine !== false) going();
      // An upload that is there is asked how far it is. Without an endpoint the client cannot begin another one by
      // itself where the server does not answer to that: what has arrived is not given up for a restart.
      var before = entry = begun.find(key) || entry, to = before ? { uploadUrl: before.url } : { endpoint: ENDPOINT };
      var current = upload = new tus.Upload(file, Object.assign(to, {
        chunkSize: CHUNK, retryDelays: null, storeFingerprintForResuming: false, // what failed is tried again here, and kept in begun.js
        metadata: Object.assign({ filename: file.name }, metadata),
        onUploadUrlAvailable: function () {
          if (before || upload !== current) return;
          entry = { url: new URL(current.url, location.href).pathname, name: file.name, size: file.size, modified: file.lastModified, metadata: metadata, at: Date.now() };
          begun.keep(entry);
        },
        onProgress: function (sent) {
          if (upload !== current) return;
          if (waiting) going();
          on.progress(sent);
        },
        onAfterResponse: function (req, res) {
          var offset = Number(res.getHeader("Upload-Offset"));
          if (offset > arrived) { arrived = offset; tries = 0; }
          run = res.getHeader("X-Heapdrift-Run") || run;
          body = res.getBody();
        },
        onSuccess: function () {
          if (upload !== current) return;
          dropBegun();
          end();
          on.done(run, body);
        },
        onError: function (err) { if (upload === current) failed(err); }
      }));
      current.start();
    }
    function going() {
      waiting = false;
      on.going();
    }
    function end() { upload = null; stop(); }
    function dropBegun() {
      if (entry) begun.drop(entry.url);
      entry = null;
    }

    function failed(err) {
      var res = err.originalResponse, status = res ? res.getStatus() : 0, said = res ? problemOf(res) : null;
      if (begun.isGone(status) && entry) {
        dropBegun();
        arrived = 0;
        on.anew();
        return again(said, null);
      }
      if (passes(status, said)) return status ? again(said, res) : unanswered();
      // Who has to sign in first finds what has arrived.
      if (status !== 401 && status !== 403) dropBegun();
      end();
      on.failed(said);
    }
    // passes tells what another try may not meet from what it will.
    function passes(status, said) {
      return !status || status >= 500 || [408, 409, 423, 429].indexOf(status) >= 0 || said.code === "upload-broken";
    }
    // unanswered is a request without an answer: the line is down, or the file cannot be read any more.
    function unanswered() {
      var current = upload;
      file.slice(0, 1).arrayBuffer().then(function () {
        if (upload !== current || !active) return;
        again({ text: "the server does not answer" }, null);
      }, function () {
        if (upload !== current || !active) return;
        end();
        on.failed({ changed: true, text: "Choose the file again: it has changed since, or is gone." });
      });
    }
    function again(said, res) {
      var asked = res ? Number(res.getHeader("Retry-After")) || 0 : 0;
      var pause = Math.max(Math.min(FIRST * Math.pow(2, tries++), LONGEST), Math.min(asked, LONGEST_ASKED));
      abort();
      clearTimeout(timer);
      timer = setTimeout(attempt, 1000 * pause);
      waiting = true;
      on.wait({ offline: navigator.onLine === false, because: said, seconds: pause });
    }
    return self;
  }

  // NEXT is what to do about an answer that does not say it itself.
  var NEXT = {
    401: " Sign in in another tab, then send the file again: it goes on where it was.",
    403: " Your account may not upload there: sign in with one that may, then send the file again."
  };
  // problemOf is what the server said, as problem+json.
  function problemOf(res) {
    try {
      var p = JSON.parse(res.getBody());
      return { code: p.code, text: p.detail || p.title };
    } catch (e) {
      var status = res.getStatus(); // a HEAD has no body, and a proxy speaks otherwise
      return { text: "The server answered " + status + "." + (NEXT[status] || "") };
    }
  }

  window.uploadTransfer = transfer;
})();
