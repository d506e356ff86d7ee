// The icicle of calls on a canvas and the same tree as a table. A node narrower than half a pixel is skipped with all that it calls, so
// that a tree of any size is drawn in the time of what can be seen.
(function () {
  "use strict";
  var T = window.HeapdriftTree, rowHeight = 22, maxRows = 40;

  // fills are the colours of classes: what leaks is red, what grows is amber, nothing else is either.
  var fills = { leak: "--leak-fill", unreferenced: "--leak-fill", "left-at-exit": "--leak-fill", growing: "--growing-fill", "growing-block": "--growing-fill", cache: "--cache-fill", "one-time": "--onetime-fill", transient: "--transient-fill", stable: "--stable-fill" };

  function Flame(box) {
    this.box = box; this.canvas = box.querySelector(".flame-canvas"); this.mini = box.querySelector(".flame-mini");
    this.g = this.canvas.getContext("2d"); this.colours = {}; this.query = "";
    var q = new URLSearchParams(location.search);
    this.o = { fold: q.get("fold") !== "0", invert: q.get("invert") === "1", hide: new Set(q.getAll("hide")), focus: q.get("of") || "" };
    this.listen();
  }

  Flame.prototype = {
    // load takes what the API sent.
    load: function (json) { this.all = T.read(json); this.remake(); },
    remake: function () {
      var t = this.all;
      if (this.o.fold || this.o.invert || this.o.focus || this.o.hide.size) {
        t = T.remake(t, this.o);
        if (this.o.fold && t.depth.length < 2 && this.all.depth.length > 1) t = T.remake(this.all, { fold: false, invert: this.o.invert, focus: this.o.focus, hide: this.o.hide });
      }
      this.show(t);
    },
    show: function (t) {
      this.t = t; this.root = 0; this.chosen = 0; this.worst = 0;
      if (t.before) for (var i = 0; i < t.depth.length; i++) this.worst = Math.max(this.worst, Math.abs(t.after0[i] - t.before0[i]));
      this.canvas.style.height = Math.min(maxRows, t.deepest + 1) * rowHeight + "px";
      this.box.classList.add("ready");
      this.open = new Set([0]); for (var at = 0, k = 0; k < 8 && at + 1 < t.end[at]; k++) { at++; this.open.add(at); }
      this.remember(); this.say(); this.draw(); this.path(); this.table();
    },
    // remember keeps in the address how the tree is looked at; defaults are left out.
    remember: function () {
      var url = new URL(location.href), o = this.o, set = function (k, v) { if (v) url.searchParams.set(k, v); else url.searchParams.delete(k); };
      set("fold", o.fold ? "" : "0"); set("invert", o.invert ? "1" : ""); set("of", o.focus);
      url.searchParams.delete("hide"); o.hide.forEach(function (name) { url.searchParams.append("hide", name); }); // one each: operator| is a name
      if (url.href !== location.href) history.replaceState(history.state, "", url);
      this.button("fold").setAttribute("aria-pressed", String(o.fold)); this.button("invert").setAttribute("aria-pressed", String(o.invert)); this.button("focus").setAttribute("aria-pressed", String(!!o.focus));
      this.box.querySelector(".flame-hidden").textContent = o.hide.size ? o.hide.size + " hidden: " + Array.from(o.hide).map(T.short).join(", ") : "";
    },
    button: function (name) { return this.box.querySelector('[data-flame-do="' + name + '"]'); },
    value: function (v) { return this.t.unit === "blocks" ? Math.round(v).toLocaleString("en-US") + " blocks" : heapdriftSize(v); },
    // change is what a node of a comparison gained or lost, with a sign and a glyph.
    change: function (i) {
      var d = this.t.after0[i] - this.t.before0[i];
      return d > 0 ? "▲ +" + this.value(d) : d < 0 ? "▼ " + this.value(d) : "= " + this.value(0);
    },
    facts: function (i) {
      var t = this.t, lines = [t.names[t.name[i]]];
      if (t.places[t.name[i]]) lines.push(t.places[t.name[i]]);
      if (t.before) lines.push("before " + this.value(t.before0[i]) + ", after " + this.value(t.after0[i]) + ", change " + this.change(i));
      else lines.push(this.value(t.total[i]) + ", " + (t.total[0] ? (t.total[i] / t.total[0] * 100).toFixed(1) : "0") + " % of all; by itself " + this.value(t.self[i]));
      if (i && t.classes.length) lines.push("most of it: " + t.classes[t.cls[i]]);
      return lines;
    },
    // css is a colour of the page's tokens, as the browser resolves it for the theme.
    css: function (name) {
      if (!this.colours[name]) {
        this.probe = this.probe || this.box.appendChild(document.createElement("i"));
        this.probe.hidden = true;
        this.probe.style.color = "var(" + name + ")";
        this.colours[name] = getComputedStyle(this.probe).color;
      }
      return this.colours[name];
    },
    colour: function (i) {
      var t = this.t;
      if (t.before) {
        var d = t.after0[i] - t.before0[i];
        if (!d || !this.worst) return this.css("--d-0");
        return this.css((d > 0 ? "--f-worse" : "--f-better"));
      }
      return this.css(i === 0 ? "--d-0" : fills[t.classes[t.cls[i]]] || "--unknown-fill");
    },
    // strength is how strongly a node of a comparison is coloured: the square root of its part of the largest change, in four steps.
    strength: function (i) {
      var t = this.t, d = t.before ? Math.abs(t.after0[i] - t.before0[i]) : 0;
      return !t.before || !d ? 1 : .25 * Math.max(1, Math.ceil(4 * Math.sqrt(d / this.worst)));
    },
    draw: function () {
      var self = this;
      if (this.waiting) return;
      this.waiting = requestAnimationFrame(function () { self.waiting = 0; self.paint(); });
    },
    paint: function () {
      var t = this.t, g = this.g, ratio = window.devicePixelRatio || 1, W = this.canvas.clientWidth, H = this.canvas.clientHeight;
      if (!W || !t) return;
      this.canvas.width = Math.round(W * ratio); this.canvas.height = Math.round(H * ratio);
      g.setTransform(ratio, 0, 0, ratio, 0, 0); g.clearRect(0, 0, W, H);
      g.font = this.font || (this.font = "11.5px " + getComputedStyle(this.box.querySelector(".flame-path")).getPropertyValue("--font-mono").trim()); g.textBaseline = "middle";
      var letter = this.letter || (this.letter = g.measureText("mmmmmmmmmm").width / 10);
      var scale = W / (t.total[this.root] || 1), x0 = t.x[this.root], d0 = t.depth[this.root], found = this.found, text = this.css("--text"), n = t.end[this.root];
      this.drawn = 0;
      for (var i = this.root; i < n;) {
        var x = (t.x[i] - x0) * scale, w = t.total[i] * scale, y = (t.depth[i] - d0) * rowHeight;
        if (w < .5 || y >= H) { i = t.end[i]; continue; }
        g.globalAlpha = (found && !found[t.name[i]] ? .25 : 1) * this.strength(i);
        g.fillStyle = this.colour(i); g.fillRect(x, y, Math.max(.5, w - 1), rowHeight - 1);
        g.globalAlpha = 1;
        if (i === this.chosen && i !== this.root || i === this.hot) { g.strokeStyle = text; g.lineWidth = 1.5; g.strokeRect(x + .75, y + .75, Math.max(1, w - 2.5), rowHeight - 2.5); }
        if (w > 34) {
          var room = Math.floor((w - 8) / letter), label = t.names[t.name[i]];
          if (label.length > room) label = T.short(label);
          if (label.length > room) label = room < 4 ? "" : label.slice(0, room - 1) + "…";
          g.fillStyle = this.ink(i); g.fillText(label, x + 4, y + rowHeight / 2);
        }
        this.drawn++; i++;
      }
      this.paintMini();
    },
    ink: function (i) {
      var key = "ink" + this.colour(i) + this.strength(i);
      if (this.colours[key]) return this.colours[key];
      if (this.strength(i) < .75) return this.colours[key] = this.css("--text");
      var m = /(\d+), (\d+), (\d+)/.exec(this.colour(i)), l = m ? [1, 2, 3].reduce(function (s, k) { return s + Math.pow(m[k] / 255, 2.2) * [.2126, .7152, .0722][k - 1]; }, 0) : 1;
      return this.colours[key] = l > .2 ? "#10161c" : "#f2f6fa";
    },
    paintMini: function () {
      var t = this.t, m = this.mini, g = m.getContext("2d"), ratio = window.devicePixelRatio || 1, W = m.clientWidth, H = m.clientHeight, n = t.depth.length;
      m.width = W * ratio; m.height = H * ratio; g.setTransform(ratio, 0, 0, ratio, 0, 0);
      var scale = W / (t.total[0] || 1), row = H / (t.deepest + 1);
      for (var i = 0; i < n;) {
        var w = t.total[i] * scale;
        if (w < 1) { i = t.end[i]; continue; }
        g.fillStyle = this.colour(i); g.fillRect(t.x[i] * scale, t.depth[i] * row, w, Math.max(1, row)); i++;
      }
      g.fillStyle = this.css("--bg"); g.globalAlpha = .7;
      g.fillRect(0, 0, t.x[this.root] * scale, H); g.fillRect((t.x[this.root] + t.total[this.root]) * scale, 0, W, H); g.globalAlpha = 1;
    },
    hit: function (e) {
      var r = this.canvas.getBoundingClientRect(), t = this.t, row = t.depth[this.root] + Math.floor((e.clientY - r.top) / rowHeight), v = t.x[this.root] + (e.clientX - r.left) / r.width * t.total[this.root];
      return this.at(this.root, row, v);
    },
    // at finds the node of a depth that has a place, below another.
    at: function (from, depth, v) {
      var t = this.t;
      for (var i = from; i < t.end[from];) {
        if (v < t.x[i] || v >= t.x[i] + t.total[i]) { i = t.end[i]; continue; }
        if (t.depth[i] === depth) return i;
        i++;
      }
      return -1;
    },
    zoom: function (i) { this.root = i; this.chosen = i; this.draw(); this.path(); this.say(); },
    choose: function (i) {
      this.chosen = i; this.draw(); this.say();
      for (var p = i; p >= 0; p = this.t.parent[p]) this.open.add(p);
      this.table();
    },
    say: function () { this.box.querySelector(".flame-live").textContent = this.facts(this.chosen).join(", "); },
    path: function () {
      var nav = this.box.querySelector(".flame-path"), self = this, list = [];
      nav.textContent = "";
      for (var i = this.root; i >= 0; i = this.t.parent[i]) list.unshift(i);
      list.forEach(function (i) {
        var b = document.createElement("button");
        b.type = "button"; b.textContent = T.short(self.t.names[self.t.name[i]]); b.title = self.t.names[self.t.name[i]];
        if (i === self.root) b.setAttribute("aria-current", "true");
        b.addEventListener("click", function () { self.zoom(i); });
        nav.appendChild(b);
      });
    },
    find: function (text) {
      this.found = null;
      var t = this.t, out = this.box.querySelector(".flame-found"), sum = 0, count = 0;
      if (text) {
        this.found = t.names.map(function (n) { return n.toLowerCase().indexOf(text.toLowerCase()) >= 0; });
        for (var i = 1; i < t.depth.length;) {
          if (!this.found[t.name[i]]) { i++; continue; }
          sum += t.total[i]; count++; i = t.end[i]; // what a match calls is in its width
        }
      }
      out.textContent = text ? count + " found, " + this.value(sum) + ", " + (t.total[0] ? (sum / t.total[0] * 100).toFixed(1) : "0") + " % of the width" : "";
      this.draw();
    },
    act: function (what) {
      var name = this.t.names[this.t.name[this.chosen]];
      if (what === "fold") this.o.fold = !this.o.fold;
      else if (what === "invert") this.o.invert = !this.o.invert;
      else if (what === "hide" && this.chosen > 0) this.o.hide.add(name);
      else if (what === "focus") this.o.focus = this.o.focus || this.chosen === 0 ? "" : name;
      else if (what === "reset") { this.o.hide.clear(); this.o.focus = ""; this.o.invert = false; this.o.fold = true; }
      else return;
      this.remake();
    },
    key: function (e) {
      var t = this.t, i = this.chosen, to = -1;
      if (e.ctrlKey || e.metaKey || e.altKey) return;
      switch (e.key) {
      case "ArrowUp": to = t.parent[i]; break;
      case "ArrowDown": to = i + 1 < t.end[i] ? i + 1 : -1; break;
      case "ArrowRight": to = t.end[i] < t.depth.length && t.parent[t.end[i]] === t.parent[i] ? t.end[i] : -1; break;
      case "ArrowLeft": for (var k = t.parent[i] + 1; i > 0 && k < i; k = t.end[k]) to = k; break;
      case "Enter": this.zoom(i); break;
      case "Escape": this.zoom(Math.max(0, t.parent[this.root])); break;
      case "0": this.zoom(0); break;
      case "h": this.act("hide"); break;
      case "f": this.act("focus"); break;
      case "i": this.act("invert"); break;
      default: return;
      }
      e.preventDefault(); e.stopPropagation();
      if (to < 0) return;
      if (to < this.root || to >= t.end[this.root]) this.root = t.parent[to] < 0 ? 0 : t.parent[to];
      this.choose(to); this.path();
    },
    tip: function (i, x, y) {
      var tip = document.querySelector(".flame-tip");
      if (!tip) { tip = document.createElement("div"); tip.className = "flame-tip"; tip.setAttribute("role", "tooltip"); document.body.appendChild(tip); }
      tip.hidden = i < 0;
      if (i < 0) return;
      tip.textContent = this.facts(i).join("\n");
      tip.style.left = Math.max(8, Math.min(innerWidth - tip.offsetWidth - 8, x + 14)) + "px";
      tip.style.top = (y + 18 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 18) + "px";
    },
    listen: function () {
      var self = this, c = this.canvas, dragging = false;
      c.addEventListener("mousemove", function (e) { var i = self.hit(e); if (i !== self.hot) { self.hot = i; self.draw(); } self.tip(i, e.clientX, e.clientY); });
      c.addEventListener("mouseleave", function () { self.hot = -1; self.tip(-1); self.draw(); });
      c.addEventListener("click", function (e) { var i = self.hit(e); if (i < 0) return; self.tip(-1); if (e.shiftKey) return self.choose(i); if (e.altKey) { self.chosen = i; return self.act("hide"); } self.zoom(i); self.choose(i); });
      c.addEventListener("dblclick", function () { self.zoom(0); });
      c.addEventListener("keydown", function (e) { self.key(e); });
      this.box.addEventListener("click", function (e) { var b = e.target.closest("[data-flame-do]"); if (b) self.act(b.dataset.flameDo); });
      this.box.querySelector(".flame-find").addEventListener("input", function () { self.find(this.value.trim()); });
      var go = function (e) { var r = self.mini.getBoundingClientRect(), i = self.at(0, 1, (e.clientX - r.left) / r.width * self.t.total[0]); if (i >= 0) self.zoom(i); };
      this.mini.addEventListener("pointerdown", function (e) { dragging = true; self.mini.setPointerCapture(e.pointerId); go(e); });
      this.mini.addEventListener("pointermove", function (e) { if (dragging) go(e); });
      this.mini.addEventListener("pointerup", function () { dragging = false; });
      new ResizeObserver(function () { if (self.t) self.draw(); }).observe(this.box);
      new MutationObserver(function () { self.colours = {}; if (self.t) self.draw(); }).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
      this.listenToTable();
    },

    // ---- the same tree as a table ----
    table: function () {
      var body = this.box.querySelector(".flame-tree tbody"), rows = document.createDocumentFragment(), count = 0, t = this.t;
      for (var i = 0; i < t.depth.length && count < 400; count++) {
        rows.appendChild(this.row(i));
        i = this.open.has(i) ? i + 1 : t.end[i];
      }
      body.textContent = "";
      body.appendChild(rows);
    },
    row: function (i) {
      var t = this.t, tr = document.createElement("tr"), leaf = t.end[i] === i + 1, self = this;
      tr.setAttribute("role", "row"); tr.setAttribute("aria-level", t.depth[i] + 1); tr.setAttribute("aria-selected", String(i === this.chosen)); tr.tabIndex = i === this.chosen ? 0 : -1; tr.dataset.node = i;
      if (!leaf) tr.setAttribute("aria-expanded", String(this.open.has(i)));
      var cells = t.before ? [this.value(t.before0[i]), this.value(t.after0[i]), this.change(i)] : [this.value(t.total[i]), this.value(t.self[i]), (t.total[0] ? (t.total[i] / t.total[0] * 100).toFixed(1) : "0") + " %"];
      var td = document.createElement("td"), indent = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      td.setAttribute("role", "gridcell"); indent.setAttribute("width", 10 * Math.min(24, t.depth[i]) + (leaf ? 24 : 0)); indent.setAttribute("height", 1); indent.setAttribute("aria-hidden", "true"); td.appendChild(indent);
      if (!leaf) {
        var b = document.createElement("button");
        b.type = "button"; b.className = "row-toggle"; b.tabIndex = -1; b.setAttribute("aria-label", (this.open.has(i) ? "Close " : "Open ") + t.names[t.name[i]]);
        b.innerHTML = '<svg viewBox="0 0 8 8" aria-hidden="true"><path d="M1.5 0 7 4 1.5 8Z"/></svg>';
        b.addEventListener("click", function (e) { e.stopPropagation(); self.flip(i); });
        td.appendChild(b);
      }
      td.appendChild(document.createTextNode(t.names[t.name[i]])); tr.appendChild(td);
      cells.forEach(function (text) { var c = document.createElement("td"); c.className = "num"; c.setAttribute("role", "gridcell"); c.textContent = text; tr.appendChild(c); });
      return tr;
    },
    flip: function (i) { if (this.open.has(i)) this.open.delete(i); else this.open.add(i); this.chosen = i; this.table(); this.focusRow(); },
    focusRow: function () { var tr = this.box.querySelector('.flame-tree tr[data-node="' + this.chosen + '"]'); if (tr) tr.focus(); },
    listenToTable: function () {
      var self = this, body = this.box.querySelector(".flame-tree tbody");
      body.addEventListener("click", function (e) { var tr = e.target.closest("tr"); if (tr) { self.choose(+tr.dataset.node); self.focusRow(); } });
      body.addEventListener("keydown", function (e) {
        var tr = e.target.closest("tr"), t = self.t, i = +tr.dataset.node, to = null;
        if (e.key === "ArrowDown") to = tr.nextElementSibling; else if (e.key === "ArrowUp") to = tr.previousElementSibling;
        else if (e.key === "Home") to = body.firstElementChild; else if (e.key === "End") to = body.lastElementChild;
        else if (e.key === "ArrowRight" && t.end[i] > i + 1) { if (!self.open.has(i)) self.flip(i); else to = tr.nextElementSibling; }
        else if (e.key === "ArrowLeft") { if (self.open.has(i) && t.end[i] > i + 1) self.flip(i); else to = body.querySelector('tr[data-node="' + t.parent[i] + '"]'); }
        else if (e.key === "Enter") { self.zoom(i); }
        else return;
        e.preventDefault(); e.stopPropagation();
        if (to) { self.choose(+to.dataset.node); self.focusRow(); }
      });
    }
  };

  // ---- each icicle of the page fetches its tree ----
  function start(root) {
    root.querySelectorAll("[data-flame]:not([data-started])").forEach(function (box) {
      box.setAttribute("data-started", "");
      var note = box.querySelector(".flame-note"), told = setTimeout(function () { note.textContent = "Loading the tree …"; }, 300);
      box.flame = new Flame(box);
      fetch(box.dataset.flame, { headers: { Accept: "application/json" } }).then(function (r) {
        return r.json().then(function (body) { if (!r.ok) throw new Error(body.detail || "status " + r.status); return body; });
      }).then(function (json) {
        clearTimeout(told);
        if (json.nodes.depth.length < 2) { note.textContent = "Choose another metric: no site of this selection grew or holds memory."; return; }
        box.flame.load(json);
      }).catch(function (err) { clearTimeout(told); note.textContent = "The tree cannot be shown: " + err.message + ". Reload the page to try again."; });
    });
  }
  document.addEventListener("DOMContentLoaded", function () { start(document); });
  document.addEventListener("htmx:afterSettle", function (e) { start(e.target.parentElement || document); });
  window.HeapdriftFlame = Flame;
})();
