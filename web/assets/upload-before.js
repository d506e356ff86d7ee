// What was begun and did not end: before a reload, in a tab that was closed. A page cannot open a file again by itself,
// so each is listed with how far it is and waits for its file to be chosen.
(function () {
  "use strict";
  var AGAIN = 10000; // ms until the server is asked again that did not answer
  var begun = window.uploadsBegun, pace = window.uploadPace;

  window.uploadsBefore = function (queue) {
    var section = document.getElementById("before"), list = document.getElementById("before-list"), said = document.getElementById("before-said");
    var line = document.getElementById("before-line"), rows = {}, asking = Promise.resolve(), timer = 0;

    function refresh() {
      var entries = begun.all().filter(function (e) { return !begun.holds(begun.keyOf(e)); });
      entries.forEach(function (e) { if (!rows[e.url]) add(e); });
      Object.keys(rows).forEach(function (url) {
        var row = rows[url];
        if (!row.arrived && !entries.some(function (e) { return e.url === url; })) return remove(row);
        var elsewhere = begun.elsewhere(begun.keyOf(row.entry));
        if (row.elsewhere && !elsewhere) ask(row); // it went on meanwhile
        row.elsewhere = elsewhere;
        show(row);
      });
      section.hidden = !list.children.length && !said.textContent;
    }
    function add(entry) {
      var element = line.content.firstElementChild.cloneNode(true), row = rows[entry.url] = { entry: entry, element: element, told: "asking" };
      element.querySelector(".name").textContent = entry.name;
      element.querySelector("progress").setAttribute("aria-label", entry.name);
      var input = element.querySelector("input"), choose = element.querySelector("[data-act=choose]"), forget = element.querySelector("[data-act=forget]");
      choose.setAttribute("aria-label", choose.textContent + ": " + entry.name);
      forget.setAttribute("aria-label", "Forget " + entry.name);
      choose.addEventListener("click", function () { input.click(); });
      input.addEventListener("change", function () {
        if (input.files[0]) goOn(row, input.files[0]);
        input.value = "";
      });
      forget.addEventListener("click", function () {
        begun.forget(entry.url).then(function (gone) {
          say(entry.name + (gone ? " is forgotten, here and on the server." : " is forgotten here. The server could not be told: it deletes what nobody continues for a day."));
          refresh();
        });
        refresh();
        (list.querySelector("[data-act=forget]:not([hidden])") || document.getElementById("file")).focus();
      });
      list.appendChild(element);
      ask(row);
    }
    function remove(row) {
      row.element.remove();
      delete rows[row.entry.url];
    }
    // goOn sends the file that was chosen where its first part went, whatever the form says now.
    function goOn(row, file) {
      var entry = row.entry;
      row.wrong = "";
      if (file.name !== entry.name || file.size !== entry.size) {
        row.wrong = "This is " + file.name + " of " + heapdriftSize(file.size) + " (" + file.size + " bytes). Choose " + entry.name + " of " + heapdriftSize(entry.size) + " (" + entry.size + " bytes).";
      } else if (file.lastModified !== entry.modified) {
        row.wrong = entry.name + " has changed since: what the server has is of the file as it was. Forget that, and upload the file anew.";
      } else {
        var added = queue.add([file], entry.metadata)[0];
        if (added) return queue.sendOne(added);
        row.wrong = entry.name + " is in the list of files below already: send it from there.";
      }
      show(row);
    }
    // ask asks for one after the other: there may be many.
    function ask(row) {
      asking = asking.then(function () {
        if (rows[row.entry.url] !== row || row.elsewhere) return null;
        return begun.ask(row.entry).then(function (answer) { if (rows[row.entry.url] === row) tell(row, answer); }); // it may have been forgotten meanwhile
      });
    }
    function tell(row, answer) {
      row.told = answer.state;
      row.offset = answer.offset;
      if (answer.state === "gone") {
        say("The server no longer has " + row.entry.name + ". It deletes uploads that were not continued for a day. Choose the file below to send it from the beginning.");
      } else if (answer.state === "complete") {
        row.arrived = true;
        row.run = answer.run;
      } else if (answer.state === "away" && !timer) {
        timer = setTimeout(askAway, AGAIN);
      }
      if (answer.state === "gone" || answer.state === "complete") begun.drop(row.entry.url);
      refresh();
    }
    function askAway() {
      clearTimeout(timer);
      timer = 0;
      Object.keys(rows).forEach(function (url) { if (rows[url].told === "away") ask(rows[url]); });
    }
    window.addEventListener("online", askAway);

    function show(row) {
      var entry = row.entry, element = row.element, m = entry.metadata, size = heapdriftSize(entry.size);
      var to = m.kind === "symbols" ? "as symbols" : "for " + m.project + ", build " + m.build + (m.scenario ? ", " + m.scenario : "") + (m.run ? ", run " + m.run : "");
      var says = {
        asking: size + " " + to + ". The server is asked how far it is.",
        pending: heapdriftSize(row.offset) + " of " + size + " are on the server, " + to + ".",
        complete: size + " " + to + ".",
        forbidden: size + " " + to + ". Your account may not upload there now: sign in with the one that began it.",
        away: size + " " + to + ". The server does not answer; how far it is shows when it does."
      };
      var status = row.elsewhere ? "another tab sends it" : { pending: pace.percent(row.offset, entry.size) + " %", complete: "arrived" }[row.told] || "";
      write(element.querySelector(".st"), status);
      write(element.querySelector(".says"), row.elsewhere ? size + " " + to + "." : says[row.told]);
      element.classList.toggle("done", !!row.arrived);
      var bar = element.querySelector("progress"), link = element.querySelector("a");
      bar.hidden = row.told !== "pending" || !!row.elsewhere;
      bar.value = 100 * row.offset / entry.size || 0;
      link.hidden = !row.run;
      if (row.run) link.href = "/runs/" + row.run;
      element.querySelectorAll("[data-act]").forEach(function (b) { b.hidden = !!(row.elsewhere || row.arrived); });
      element.querySelector(".err").hidden = !row.wrong;
      write(element.querySelector(".err"), row.wrong || "");
    }
    function say(text) {
      var p = document.createElement("p");
      p.textContent = text;
      said.appendChild(p);
    }
    function write(element, text) { if (element.textContent !== text) element.textContent = text; }

    begun.listen(refresh);
    // Another tab that begins or ends an upload writes to the same storage.
    window.addEventListener("storage", refresh);
    refresh();
  };
})();
