// What uploads have begun: kept by the browser, so that a reload, a closed tab and other tabs find them, and which of
// them another tab is sending now.
(function () {
  "use strict";
  var PREFIX = "heapdrift-upload-";
  var memory = {}; // where the browser's storage is full or forbidden, it lasts as long as the page

  // key tells uploads apart: the same file to the same place goes on, anything else begins anew.
  function key(file, metadata) {
    var names = Object.keys(metadata).sort();
    return JSON.stringify([file.name, file.size, file.lastModified, names.map(function (n) { return [n, metadata[n]]; })]);
  }

  // ---- kept ----
  // Each upload has an entry of its own: two tabs that write at once cannot undo each other's.
  function keep(entry) {
    try { localStorage.setItem(PREFIX + entry.url, JSON.stringify(entry)); } catch (e) { memory[entry.url] = entry; }
  }
  function drop(url) {
    delete memory[url];
    try { localStorage.removeItem(PREFIX + url); } catch (e) { /* forbidden */ }
  }
  // all are the uploads that are not known to be over, the oldest first.
  function all() {
    var found = Object.assign({}, memory);
    try {
      for (var i = 0; i < localStorage.length; i++) {
        var name = localStorage.key(i);
        if (name.indexOf(PREFIX) === 0) read(found, name.slice(PREFIX.length), localStorage.getItem(name));
      }
    } catch (e) { /* forbidden */ }
    return Object.keys(found).map(function (url) { return found[url]; }).sort(function (a, b) { return a.at - b.at; });
  }
  function read(into, url, text) {
    try {
      var entry = JSON.parse(text);
      if (entry.url === url && entry.name && entry.size && entry.metadata) into[url] = entry;
    } catch (e) { /* not written here */ }
  }
  function keyOf(entry) { return key({ name: entry.name, size: entry.size, lastModified: entry.modified }, entry.metadata); }
  function find(k) { return all().filter(function (entry) { return keyOf(entry) === k; })[0]; }

  // ---- asked ----
  // ask says of an upload how far the server has it: {state: "pending", offset} or {state: "complete", run}, "gone" where
  // the server does not know it any more, "forbidden", and "away" where it does not answer.
  function ask(entry) {
    return fetch(entry.url, { method: "HEAD", headers: { "Tus-Resumable": "1.0.0" } }).then(function (res) {
      var offset = Number(res.headers.get("Upload-Offset"));
      if (res.ok) return { state: offset === entry.size ? "complete" : "pending", offset: offset, run: res.headers.get("X-Heapdrift-Run") };
      return { state: isGone(res.status) ? "gone" : res.status === 401 || res.status === 403 ? "forbidden" : "away" };
    }, function () { return { state: "away" }; });
  }
  function isGone(status) { return status === 404 || status === 410; }
  // forget gives an upload up, here and on the server. It promises whether the server has none of it any more; what it was not told of
  // it sweeps after a day.
  function forget(url) {
    drop(url);
    return fetch(url, { method: "DELETE", headers: { "Tus-Resumable": "1.0.0" } }).then(function (res) { return res.ok || isGone(res.status); }, function () { return false; });
  }

  // ---- other tabs ----
  // Each tab says which files it has in hand; one that closes says that it has none. The server lets only one of them
  // write at a time, whatever is said here: this is so that nobody waits for that, or forgets what another tab sends.
  var me = Math.random().toString(36).slice(2), mine = {}, others = {}, ends = {}, listeners = [];
  var heard = null; // the tabs that have answered since this one asked; null where it has not
  var channel = window.BroadcastChannel ? new BroadcastChannel("heapdrift-upload") : null;
  function tell(more) {
    if (channel) channel.postMessage(Object.assign({ from: me, keys: Object.keys(mine) }, more));
  }
  if (channel) channel.onmessage = function (e) {
    if (e.data.keys) others[e.data.from] = e.data.keys;
    if (heard) heard[e.data.from] = true;
    if (e.data.ended) ends[e.data.ended.key] = e.data.ended;
    if (e.data.asks) tell();
    changed();
  };
  function changed() { listeners.forEach(function (l) { l(); }); }
  window.addEventListener("pagehide", function () { if (channel) channel.postMessage({ from: me, keys: [] }); });
  window.addEventListener("pageshow", function (e) { if (e.persisted) tell({ asks: true }); });
  // A tab that crashed says nothing: who comes back to this one has it ask again. Until there was time to answer, what is known counts:
  // one that is slow to answer is still sending.
  document.addEventListener("visibilitychange", function () {
    if (document.visibilityState !== "visible" || heard) return;
    heard = {};
    tell({ asks: true });
    setTimeout(function () {
      Object.keys(others).forEach(function (tab) { if (!heard[tab]) delete others[tab]; });
      heard = null;
      changed();
    }, 500);
  });
  tell({ asks: true });

  window.uploadsBegun = {
    key: key, keyOf: keyOf, keep: keep, drop: drop, all: all, find: find, ask: ask, isGone: isGone, forget: forget,
    // take and release say what this tab has in hand; ended is there where the file has arrived, and has the run that it went to, if any.
    take: function (k) { mine[k] = true; delete ends[k]; tell(); changed(); },
    release: function (k, ended) { delete mine[k]; tell(ended ? { ended: { key: k, run: ended.run } } : {}); changed(); },
    holds: function (k) { return !!mine[k]; },
    elsewhere: function (k) { return Object.keys(others).some(function (tab) { return others[tab].indexOf(k) >= 0; }); },
    endOf: function (k) { return ends[k]; },
    listen: function (l) { listeners.push(l); }
  };
})();
