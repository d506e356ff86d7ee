// The upload page: evidence of one run, sent when the form is.
(function () {
  "use strict";
  var AGAIN = 5000; // ms until the server is asked again that did not answer
  var FIELDS = ["project", "build", "scenario", "run", "branch", "sequence", "work", "work_unit"];
  var form = document.getElementById("upload"), start = document.getElementById("start"), toRun = document.getElementById("to-run"), opens = document.getElementById("opens");
  if (!form || !window.uploadQueue) return;

  function values() {
    var v = {};
    FIELDS.forEach(function (name) { var text = form.elements[name].value.trim(); if (text) v[name] = text; });
    return v;
  }
  var remember = uploadTarget(form);
  var queue = uploadQueue({ metadata: values, added: inspectStarts, changed: refresh });
  form.addEventListener("submit", function (e) {
    e.preventDefault();
    if (!queue.count("ready", "failed")) return document.getElementById("file").click();
    remember(values());
    queue.send(true);
  });
  uploadsBefore(queue);

  // ---- what a file is ----
  // Its name says it at once. Its first bytes decide, and the server reads them: it alone knows its formats.
  var names = JSON.parse(form.dataset.names), looking = Promise.resolve(), unseen = [], timer = 0;
  function inspectStarts(items) {
    items.filter(function (i) { return !i.metadata || i.metadata.kind !== "symbols"; }).forEach(inspectStart); // those are not taken as evidence
  }
  function inspectStart(item) {
    var file = item.file, extension = Object.keys(names).find(function (e) { return file.name.toLowerCase().endsWith(e); });
    item.says = extension ? "By its name " + names[extension] + "." : "";
    queue.show(item);
    looking = looking.then(function () {
      return fetch("/upload/glance?name=" + encodeURIComponent(file.name), { method: "POST", body: file.slice(0, Number(form.dataset.head)) })
        .then(function (res) { return res.ok ? res.json().then(function (seen) { say(item, seen); }) : res.status >= 500 && later(item); }, function () { later(item); });
    });
  }
  // later looks again at what the server was not asked for or did not answer, until it is sent.
  function later(item) {
    unseen.push(item);
    clearTimeout(timer);
    timer = setTimeout(again, AGAIN);
  }
  function again() {
    unseen.splice(0).filter(function (i) { return i.state === "ready" && queue.items.indexOf(i) >= 0; }).forEach(inspectStart);
  }
  function say(item, seen) {
    item.says = seen.code ? "This is not evidence that heapdrift reads: it is not sent." :
      seen.packed ? capital(seen.packed) + ". What is in it shows when it is on the server." : capital(seen.name) + ", by its first bytes.";
    if (seen.code && item.state !== "done") queue.refuse(item, { code: seen.code, text: capital(seen.message) + "." });
    queue.show(item);
  }
  function capital(text) { return text.charAt(0).toUpperCase() + text.slice(1); }
  window.addEventListener("online", again);

  // ---- the run ----
  // It opens by itself when nothing is left to wait for, to send or to read here; once, so that there is a way back.
  var opened = false;
  function refresh(queue) {
    var runs = queue.items.map(function (i) { return i.run; }).filter(function (run, i, all) { return run && all.indexOf(run) === i; });
    var failed = queue.count("failed"), ready = queue.count("ready");
    start.disabled = queue.items.length > 0 && !ready && !failed;
    opens.hidden = !queue.busy;
    toRun.hidden = !runs.length;
    if (!runs.length) return;
    toRun.href = "/runs/" + runs[0];
    toRun.target = queue.busy ? "_blank" : "";
    toRun.textContent = queue.busy ? "Open the run in a new tab" : "Open the run";
    toRun.classList.toggle("primary", !queue.busy && !failed);
    start.classList.toggle("primary", queue.busy || failed > 0);
    if (queue.busy || failed || ready || runs.length > 1) opened = false;
    else if (!opened) {
      opened = true;
      location.assign(toRun.href);
    }
  }

  // ---- the line for scripts follows what is typed ----
  var shown = document.getElementById("curl").textContent, send = shown.slice(0, shown.indexOf("-T ")); // with a token, where the server asks for one
  function command() {
    var v = values(), q = new URLSearchParams();
    q.set("project", v.project || "PROJECT");
    q.set("build", v.build || "BUILD");
    FIELDS.slice(2).forEach(function (name) { if (v[name]) q.set(name, v[name]); });
    q.set("name", "snap1.log");
    document.getElementById("curl").textContent = send + '-T snap1.log "' + form.dataset.server + "/api/v1/evidence?" + q + '"';
  }
  form.addEventListener("input", command);
  command();
})();
