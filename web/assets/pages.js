// What pages gain from scripts: the theme switch, rows that open in place, keys, copying, live stages. They read
// fully without it.
(function () {
  "use strict";
  var root = document.documentElement;

  // ---- theme ----
  document.addEventListener("click", function (e) {
    if (!e.target.closest("[data-theme-toggle]")) return;
    var now = root.getAttribute("data-theme") || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    var next = now === "dark" ? "light" : "dark";
    root.setAttribute("data-theme", next);
    try { localStorage.setItem("theme", next); } catch (err) { /* storage may be forbidden: the switch holds for this page */ }
  });

  // ---- menus close when the reader goes elsewhere ----
  document.addEventListener("click", function (e) {
    document.querySelectorAll("details.menu[open]").forEach(function (menu) {
      if (!menu.contains(e.target)) menu.removeAttribute("open");
    });
  });
  document.addEventListener("keydown", function (e) {
    if (e.key !== "Escape") return;
    document.querySelectorAll("details.menu[open]").forEach(function (menu) {
      menu.removeAttribute("open");
      menu.querySelector("summary").focus();
    });
  });

  // ---- menus of a filter: its form hears of them here, since answers replace menus, and other menus of the page are none of its ----
  document.addEventListener("change", function (e) {
    var form = e.target.matches("select") && e.target.closest("form[role=search]");
    if (form) form.dispatchEvent(new CustomEvent("chosen"));
  });

  // ---- rows that open in place ----
  function opener(row) { return row.querySelector("[aria-expanded]"); }
  function toggle(row) {
    var link = opener(row);
    if (!link) { row.querySelector("a").click(); return; } // it has a page of its own
    if (link.hasAttribute("hx-get")) { link.click(); return; } // the server opens it, and closes the others
    var open = link.getAttribute("aria-expanded") === "true";
    var detail = document.getElementById(link.getAttribute("aria-controls"));
    link.setAttribute("aria-expanded", String(!open));
    row.classList.toggle("open", !open);
    remember(row, !open);
    if (detail) { detail.hidden = open; return; }
    htmx.ajax("GET", link.dataset.fragment, { target: row, swap: "afterend" }).catch(function () { /* said by responseError */ });
  }
  // remember keeps the opened row in the address, so that a copied link opens it too.
  function remember(row, open) {
    var url = new URL(location.href);
    if (open) url.searchParams.set("open", row.dataset.row); else url.searchParams.delete("open");
    history.replaceState(history.state, "", url);
  }
  document.addEventListener("click", function (e) {
    var row = e.target.closest("tr[data-row]");
    if (!row || !opener(row) || !window.htmx || e.button !== 0 || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
    if (!e.target.closest("[aria-expanded]") && (e.target.closest("a, button") || String(getSelection()))) return;
    if (e.target.closest("[hx-get]")) return; // htmx takes it
    e.preventDefault();
    toggle(row);
  });

  // ---- keys: / filters, j and k walk the rows, o opens ----
  document.addEventListener("keydown", function (e) {
    if (/^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName) || e.ctrlKey || e.metaKey || e.altKey) return;
    var rows = Array.prototype.slice.call(document.querySelectorAll("tr[data-row]"));
    var here = document.activeElement && document.activeElement.closest("tr[data-row]"), at = rows.indexOf(here);
    if (e.key === "?") {
      document.getElementById("keys").showModal();
    } else if (e.key === "/") {
      var search = document.querySelector("input[type=search]");
      if (search) { e.preventDefault(); search.focus(); search.select(); }
    } else if ((e.key === "j" || e.key === "k") && rows.length) {
      at = Math.max(0, Math.min(rows.length - 1, at + (e.key === "j" ? 1 : -1)));
      (opener(rows[at]) || rows[at].querySelector("a")).focus();
    } else if (e.key === "o" && here) {
      toggle(here);
    }
  });

  // ---- copying ----
  function copy(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Browsers keep the clipboard from pages of plain http; a selected field can still be copied there.
    var field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.appendChild(field);
    field.select();
    var done = document.execCommand("copy");
    field.remove();
    return done ? Promise.resolve() : Promise.reject(new Error("the browser refused"));
  }
  document.addEventListener("click", function (e) {
    var button = e.target.closest("[data-copy]");
    if (!button) return;
    var text = button.textContent;
    copy(document.querySelector(button.dataset.copy).textContent).then(function () { return "Copied"; }, function () { return "Not copied"; })
      .then(function (said) {
        button.textContent = said;
        setTimeout(function () { button.textContent = text; }, 1200);
      });
  });

  // ---- what goes wrong is said ----
  function say(text) {
    var box = document.getElementById("toast");
    box.textContent = text;
    box.hidden = false;
    clearTimeout(say.timer);
    say.timer = setTimeout(function () { box.hidden = true; }, 6000);
  }
  document.addEventListener("htmx:responseError", function (e) { say("The server answered with an error (" + e.detail.xhr.status + "). Reload the page."); });
  document.addEventListener("htmx:sendError", function () { say("The server does not answer. Retry in a minute."); });

  // ---- the stages of a run end in its report; what is on its way to the server is waited for ----
  document.addEventListener("htmx:sseClose", function (e) {
    if (e.detail.type === "message" && !e.target.closest(".follow") && !document.querySelector("[data-sending]")) location.reload();
  });
})();
