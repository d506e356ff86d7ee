// A tree of calls in columns (heapdrift.tree/v1), and what is made of it: another root, another direction, fewer frames. All columns are
// typed arrays in pre-order, so that a tree of 100,000 nodes takes no object for each.
(function () {
  "use strict";

  // layOut gives each node where its subtree ends, its parent, its total and its left edge.
  function layOut(t) {
    var n = t.depth.length, stack = new Int32Array(n + 1), top = 0, i, p;
    t.end = new Int32Array(n); t.parent = new Int32Array(n); t.total = new Float64Array(n); t.x = new Float64Array(n);
    t.before0 = t.before && Float64Array.from(t.before); t.after0 = t.after && Float64Array.from(t.after);
    t.deepest = 0;
    for (i = 0; i < n; i++) {
      while (top > 0 && t.depth[stack[top - 1]] >= t.depth[i]) t.end[stack[--top]] = i;
      t.parent[i] = top > 0 ? stack[top - 1] : -1;
      stack[top++] = i;
      t.total[i] = t.self[i];
      if (t.depth[i] > t.deepest) t.deepest = t.depth[i];
    }
    while (top > 0) t.end[stack[--top]] = n;
    for (i = n - 1; i > 0; i--) {
      p = t.parent[i];
      t.total[p] += t.total[i];
      if (t.before) { t.before0[p] += t.before0[i]; t.after0[p] += t.after0[i]; }
    }
    var at = new Float64Array(n); // where the next child of a node begins
    for (i = 0; i < n; i++) {
      p = t.parent[i];
      if (p >= 0) { t.x[i] = at[p]; at[p] += t.total[i]; }
      at[i] = t.x[i];
    }
    return t;
  }

  // read makes a tree of what the API sends. Of a comparison the width of a node is the larger of its own two values.
  function read(json) {
    var d = json.nodes, n = d.depth.length, t = { names: json.names, layers: json.layers, places: json.places, classes: json.classes, unit: json.unit };
    t.depth = Int32Array.from(d.depth); t.name = Int32Array.from(d.name); t.cls = Int32Array.from(d.class || new Int32Array(n));
    t.blocks = Float64Array.from(d.blocks || new Float64Array(n));
    if (d.before && d.before.length) {
      t.before = Float64Array.from(d.before); t.after = Float64Array.from(d.after);
      t.self = new Float64Array(n);
      for (var i = 0; i < n; i++) t.self[i] = Math.max(0, t.before[i], t.after[i]);
    } else t.self = Float64Array.from(d.self);
    return layOut(t);
  }

  // remake builds a tree of the paths of another one: without frames that are hidden or folded, from the innermost call where it is inverted,
  // or only below one function. Children with one name become one node.
  function remake(t, o) {
    var n = t.depth.length, path = new Int32Array(t.deepest + 1), skip = new Uint8Array(t.names.length), i, k;
    for (k = 1; k < t.names.length; k++) skip[k] = o.hide.has(t.names[k]) || o.fold && folds(t.layers[k]) ? 1 : 0;
    var focus = o.focus ? t.names.indexOf(o.focus) : -1;
    if (focus >= 0) skip[focus] = 0;
    var edges = new Map(), name = [t.name[0]], parent = [-1], self = [0], blocks = [0], before = [0], after = [0], cls = [t.cls[0]], most = [0];
    for (i = 0; i < n; i++) {
      path[t.depth[i]] = t.name[i];
      if (!(t.self[i] > 0)) continue;
      var from = 1, to = t.depth[i], step = 1, j, at = 0;
      if (focus >= 0) {
        for (j = from; j <= to && path[j] !== focus; j++);
        if (j > to) continue;
        if (!o.invert) from = j;
        else for (to = t.depth[i]; path[to] !== focus; to--);
      }
      if (o.invert) { j = from; from = to; to = j; step = -1; }
      for (j = from; step > 0 ? j <= to : j >= to; j += step) {
        if (skip[path[j]]) continue;
        var key = at * t.names.length + path[j], next = edges.get(key);
        if (next === undefined) {
          next = name.length; edges.set(key, next);
          name.push(path[j]); parent.push(at); self.push(0); blocks.push(0); before.push(0); after.push(0); cls.push(t.cls[i]); most.push(0);
        }
        if (t.self[i] > most[next]) { most[next] = t.self[i]; cls[next] = t.cls[i]; }
        at = next;
      }
      self[at] += t.self[i]; blocks[at] += t.blocks[i];
      if (t.before) { before[at] += t.before[i]; after[at] += t.after[i]; }
    }
    return order(t, { name: name, parent: parent, self: self, blocks: blocks, before: before, after: after, cls: cls });
  }

  function folds(layer) { return layer === "allocator" || layer === "base" || layer === "runtime" || layer === "system"; }

  // order lays nodes out in pre-order, the widest child first.
  function order(t, raw) {
    var n = raw.name.length, total = Float64Array.from(raw.self), first = new Int32Array(n).fill(-1), sibling = new Int32Array(n).fill(-1), i;
    for (i = n - 1; i > 0; i--) total[raw.parent[i]] += total[i];
    for (i = 1; i < n; i++) { sibling[i] = first[raw.parent[i]]; first[raw.parent[i]] = i; }
    var out = { names: t.names, layers: t.layers, places: t.places, classes: t.classes, unit: t.unit, depth: new Int32Array(n), name: new Int32Array(n), cls: new Int32Array(n), self: new Float64Array(n), blocks: new Float64Array(n) };
    if (t.before) { out.before = new Float64Array(n); out.after = new Float64Array(n); }
    var stack = [0], depth = new Int32Array(n), kids = [], put = 0;
    while (stack.length) {
      i = stack.pop();
      out.depth[put] = depth[i]; out.name[put] = raw.name[i]; out.cls[put] = raw.cls[i]; out.self[put] = raw.self[i]; out.blocks[put] = raw.blocks[i];
      if (t.before) { out.before[put] = raw.before[i]; out.after[put] = raw.after[i]; }
      put++;
      kids.length = 0;
      for (var c = first[i]; c >= 0; c = sibling[c]) kids.push(c);
      kids.sort(function (a, b) { return total[a] - total[b] || (t.names[raw.name[a]] < t.names[raw.name[b]] ? 1 : -1); });
      for (c = 0; c < kids.length; c++) { depth[kids[c]] = depth[i] + 1; stack.push(kids[c]); }
    }
    return layOut(out);
  }

  // short is a name without its module and outer scopes; template arguments stay whole.
  function short(name) {
    var f = name.slice(name.indexOf("!") + 1), depth = 0, cut = 0;
    for (var i = 0; i < f.length - 1; i++) {
      if (f[i] === "<") depth++; else if (f[i] === ">") depth--;
      else if (f[i] === ":" && f[i + 1] === ":" && depth === 0) { cut = i + 2; i++; }
    }
    return f.slice(cut) || f;
  }

  window.HeapdriftTree = { read: read, remake: remake, short: short };
})();
