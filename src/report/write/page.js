"use strict";
// The report as a page: an index of the causes and misuses, and a section for the one that the address names: #cause-ID, or #race-ID of a misuse or of one of a
// cause's races. All that comes from the report gets into the page as text, never as markup.
const report = JSON.parse(document.getElementById("report").textContent);
const races = report.races.map((race) => ({ ...race, misuse: false }))
  .concat(report.misuses.map((misuse) => ({ ...misuse, misuse: true, accesses: [misuse], space: null })));
const byId = new Map(races.map((race) => [race.id, race]));
// The rows of the index: causes with those of their races that are listed, then misuses.
const entries = report.causes.map((cause) => ({ ...cause, href: "#cause-" + cause.id, races: cause.races.map((id) => byId.get(id)).filter(Boolean) }))
  .filter((cause) => cause.races.length).map((cause) => ({ ...cause, shown: byId.get(cause.shown) || cause.races[0] }))
  .concat(races.filter((race) => race.misuse).map((misuse) => ({ id: misuse.id, href: "#race-" + misuse.id, what: misuse.class, meaning: misuse.meaning, count: misuse.count,
    races: [misuse], shown: misuse, misuse: true })));
entries.forEach((entry, k) => {
  const [first, other] = pairOf(entry.shown).accesses;
  Object.assign(entry, { number: k, place: placeOf(first), other: other ? placeOf(other) : "", on: variableOf(entry.shown), kernel: plainName(entry.shown.kernel || ""),
    fresh: entry.races.some((race) => race.known === false), known: entry.races.every((race) => race.known === true) });
  entry.words = [entry.what, entry.on, entry.id, ...entry.races.flatMap((race) => [race.class, race.kernel, race.id, race.engine, ...race.accesses.map(placeOf)])].join(" ").toLowerCase();
  for (const race of entry.races) race.entry = entry;
});
const runs = new Map((report.runs || []).map((run) => [run.id, run]));

// ---- Elements --------------------------------------------------------------------------------------------------------

// Characters that cannot be seen, or that turn the direction of what follows, are named (src/base/escape.h).
const hidden = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff]/gu;
function shown(text) {
  return String(text).replace(hidden, (c) => { const hex = c.charCodeAt(0).toString(16); return hex.length < 3 ? "\\x" + hex.padStart(2, "0") : "\\u" + hex.padStart(4, "0"); });
}

function el(name, attributes, ...children) {
  const e = name.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {}))
    if (typeof value === "function") e.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) e.setAttribute(key, value === true ? "" : value);
  e.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false)
    .flatMap((child) => child instanceof Node ? child : broken(shown(child))));
  return e;
}

// A text with long words: where these may be broken, and the numbers in them, which may not.
function broken(text) {
  return text.split(/(\S{20,})/).flatMap((word, k) => k % 2 ? word.split(/(0x[0-9a-f]+|\b[0-9a-f]{16}(?:-\d+)?\b|\d+(?:[.:,]\d+)*)/).flatMap((part, i) => {
    if (i % 2 === 0) return part.split(/(?<=[/\\,<(=&.-]|::|[a-z0-9]_)(?=\w)/i).flatMap((piece, n) => n ? [document.createElement("wbr"), piece] : piece);
    const number = document.createElement("span");
    number.className = "number";
    number.append(part);
    return number;
  }) : word);
}

function shortFile(file) {
  const folder = report.folder ? report.folder + "/" : null;
  return folder && file.startsWith(folder) ? file.slice(folder.length) : file;
}

// The name of a kernel without its parameters and the type that it returns, as the text has it (src/report/names.c).
function plainName(name) {
  let depth = 0, begin = 0, at = 0;
  for (; at < name.length; at++) {
    const inName = /^(\(anonymous|\(lambda| namespace)/.test(name.slice(at, at + 10));
    if (!depth && name[at] === "(" && !inName) break;
    if (!depth && name[at] === " " && !inName) begin = at + 1;
    depth += "(<".includes(name[at]) - (depth && ")>".includes(name[at]));
  }
  return name.slice(begin, at) || name;
}

// "FILE:LINE" of an access, or as near as that is known.
function placeOf(access) {
  return access.file ? shortFile(access.file) + (access.line ? ":" + access.line : "") : callOf(access) || (access.ptx_line ? "PTX line " + access.ptx_line : access.kind || "");
}

// The race with both sides.
function pairOf(race) { return race.accesses.length > 1 || !race.witness || !race.witness.accesses ? race : race.witness; }

// What the bytes are: a variable, an allocation, an argument.
function variableOf(race) {
  const sides = pairOf(race).accesses, memory = sides.map((side) => side.memory).find(Boolean);
  const name = sides.map((side) => side.variable).find(Boolean) || (memory && memory.variable), argument = sides.map((side) => side.argument).find(Boolean);
  if (name) return name.replace(/^.*::(?=[^:]+$)/, "");
  return memory && memory.file ? `memory allocated at ${shortFile(memory.file)}:${memory.line}` : argument ? "argument " + argument : "";
}

function triple(v) { return v ? "(" + v.join(",") + ")" : "?"; }
function plural(n, what, several) { return n + " " + (n === 1 ? what : several || what + "s"); }

function definitions(rows) {
  return el("dl", {}, rows.filter((row) => row && row[1] !== null && row[1] !== undefined && row[1] !== "")
    .map(([name, value]) => [el("dt", {}, name), el("dd", {}, value instanceof Node ? value : String(value))]));
}

function copyable(text, what) {
  const pre = el("pre", {}, text);
  const button = el("button", { type: "button", "aria-label": "copy " + what, click: () => {
    const done = () => { button.textContent = "copied"; };
    const select = () => { getSelection().selectAllChildren(pre); };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, select); else select();
  } }, "copy");
  return el("div", { class: "copy" }, pre, button);
}

// ---- The index -------------------------------------------------------------------------------------------------------

const columns = [
  { head: "cause", of: (entry) => entry.what },
  { head: "on", of: (entry) => entry.on },
  { head: "place", of: (entry) => entry.place, compare: comparePlaces },
  { head: "other side", of: (entry) => entry.other },
  { head: "kernel", of: (entry) => entry.kernel },
  { head: "races", of: (entry) => entry.races.length, number: true },
  { head: "occurred", of: (entry) => entry.count, number: true },
];
if (report.runs) columns.push({ head: "runs", of: (entry) => (entry.seen_in || entry.shown.seen_in).length, number: true });
if (new Set(races.map((race) => race.engine)).size > 1) columns.push({ head: "engine", of: (entry) => entry.shown.engine });
const state = { sort: null, down: false, words: "", classes: new Set(entries.map((entry) => entry.what)), onlyNew: false };
let rows = null;

function comparePlaces(x, y) {
  const a = x.shown.accesses[0], b = y.shown.accesses[0];
  return (a.file || "").localeCompare(b.file || "") || (a.line || 0) - (b.line || 0);
}

function row(entry) {
  const tags = [entry.misuse && "misuse", entry.shown.witness === null && "not confirmed", entry.known && "known", entry.fresh && "new"];
  const link = el("a", { href: entry.href }, entry.what);
  return el("tr", { class: entry.known ? "known" : null, "data-id": entry.id },
    columns.map((column, k) => el("td", { class: column.number ? "n" : null, "data-head": column.head },
      k ? String(column.of(entry)) : link, k ? null : tags.filter(Boolean).map((tag) => [" ", el("span", { class: "tag" }, tag)]))));
}

function isShown(entry) {
  return state.classes.has(entry.what) && (!state.onlyNew || entry.fresh) && state.words.split(/\s+/).every((word) => entry.words.includes(word));
}

function update() {
  let shown = 0;
  for (const entry of entries) {
    const on = isShown(entry);
    rows[entry.number].hidden = !on;
    shown += on;
  }
  document.getElementById("shown").textContent = shown === entries.length ? plural(shown, "row") : shown + " of " + plural(entries.length, "row");
}

function sortBy(column, head, heads) {
  state.down = state.sort === column ? !state.down : Boolean(column.number);
  state.sort = column;
  for (const other of heads) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
  const compare = column.compare || (column.number ? (x, y) => column.of(x) - column.of(y) : (x, y) => column.of(x).localeCompare(column.of(y)));
  const sorted = [...entries].sort((x, y) => (state.down ? -1 : 1) * compare(x, y) || x.number - y.number);
  document.querySelector("#causes tbody").append(...sorted.map((entry) => rows[entry.number]));
}

function filters() {
  const counts = new Map();
  for (const entry of entries) counts.set(entry.what, (counts.get(entry.what) || 0) + 1);
  return el("div", { class: "filters", role: "search" },
    el("input", { type: "search", id: "words", placeholder: "file, kernel, variable, class, id", "aria-label": "show rows that have these words",
      input: (event) => { state.words = event.target.value.trim().toLowerCase(); update(); } }),
    [...counts].map(([name, n]) => el("label", {}, el("input", { type: "checkbox", checked: true, "data-class": name,
      change: (event) => { state.classes[event.target.checked ? "add" : "delete"](name); update(); } }), ` ${name} (${n})`)),
    report.baseline ? el("label", {}, el("input", { type: "checkbox", id: "only-new",
      change: (event) => { state.onlyNew = event.target.checked; update(); } }), " new ones only") : null,
    el("span", { class: "soft", id: "shown", "aria-live": "polite" }));
}

function indexTable() {
  rows = entries.map(row);
  const heads = columns.map((column) => el("th", { class: column.number ? "n" : null, scope: "col" }, el("button", { type: "button" }, column.head)));
  heads.forEach((head, k) => head.firstChild.addEventListener("click", () => sortBy(columns[k], head, heads)));
  return el("table", { id: "causes" }, el("thead", {}, el("tr", {}, heads)), el("tbody", {}, rows));
}

function list(head, texts) {
  return texts.length ? [el("h3", {}, head), el("ul", { class: "plain" }, texts.map((text) => el("li", {}, text)))] : [];
}

function kernelsTable(kernels) {
  return el("div", { class: "wide" }, el("table", {}, el("thead", {}, el("tr", {}, ["kernel", "launches", "grid", "block", "checked"].map((head) => el("th", { scope: "col" }, head)))),
    el("tbody", {}, kernels.map((kernel) => el("tr", {}, [kernel.name, kernel.launches, kernel.grid ? triple(kernel.grid) : "", kernel.block ? triple(kernel.block) : "",
      kernel.checked ? "yes" : kernel.why_not || "no"].map((text) => el("td", {}, String(text))))))));
}

function runsTable() {
  return [el("h3", {}, plural(report.runs.length, "run")), el("details", {}, el("summary", {}, "seeds, verdicts and commands"),
    el("div", { class: "wide" }, el("table", {}, el("thead", {}, el("tr", {}, ["seed", "engine", "verdict", "races", "command"].map((head) => el("th", { scope: "col" }, head)))),
      el("tbody", {}, report.runs.map((run) => el("tr", {}, [run.seed, run.engine, run.verdict, run.races, run.reproduce].map((text) => el("td", {}, String(text)))))))))];
}

function coverage() {
  const c = report.coverage, launched = c.kernels.filter((kernel) => kernel.launches || report.device === "none");
  return [el("h2", {}, "What was checked"),
    definitions([["engine", report.engine + " (" + report.evidence + ")"], ["device", report.device], ["seed", report.seed],
      ["modules", c.modules.checked + " checked, " + c.modules.unchecked + " not"], ["launches", c.launches.checked + " checked, " + c.launches.unchecked + " not"],
      ["accesses", Object.entries(c.accesses).filter(([, n]) => n).map(([what, n]) => n + " " + what.replaceAll("_", " ")).join("; ")]]),
    list("Remarks", c.remarks), list("Not looked for", c.blind_to || []), (report.suppressions || []).some((rule) => rule.races) ? list("Hidden by suppressions", report.suppressions.filter((rule) => rule.races)
      .map((rule) => `${plural(rule.races, "race")}, by ${rule.rule} (${rule.file}:${rule.line})${rule.why && !rule.in_source ? ": " + rule.why : ""}`)) : [],
    launched.length ? [el("h3", {}, "Kernels"), kernelsTable(launched)] : [], el("h3", {}, "Again"), copyable(report.reproduce, "the command")];
}

function index() {
  const b = report.baseline, hidden = report.races_not_listed, drawing = document.getElementById("drawing");
  return el("section", { id: "index" },
    b ? el("p", {}, `Beside ${b.file}: ` + ["new", "known", "gone"].map((word) => `${b[word]} ${word}` +
      (b.causes && b.causes[word] && b.causes[word] < b[word] ? ` (${plural(b.causes[word], "cause")})` : "")).join(", ") + ".") : null,
    list(report.verdict === "races" ? "Besides" : "Because", report.reasons),
    entries.length ? [filters(), indexTable()] : el("p", {}, "No races are listed."),
    hidden ? el("p", {}, plural(hidden, "more race is", "more races are") + " not listed (--max-reports 0 lists all).") : null,
    drawing ? el("figure", { id: "growth" }, drawing.content.cloneNode(true)) : null, report.runs ? runsTable() : [], coverage());
}

// ---- A cause ---------------------------------------------------------------------------------------------------------

// What is said of an access without a line, as in the text (src/report/text_race.c).
function withoutLine(access, race) {
  if (!access.ptx_line) return "No place in the source.";
  const called = access.function && race.kernel && access.function !== race.kernel;
  return `Line ${access.ptx_line} of the PTX: ` + (called ? "this function has no source lines; -lineinfo or -G gives them to your own." : "compile with -lineinfo to see source lines.");
}

function sourceOf(side, race) {
  const access = callOf(side) && side.stack && side.stack.length ? side.stack[0] : side; // the API's: the line of the call
  const lines = access.file && report.sources ? report.sources[access.file] : null;
  if (!lines || !access.line)
    return el("p", { class: "soft" }, access.line ? "The source was not there." : withoutLine(access, race));
  const pre = el("pre", { class: "source" });
  for (let n = Math.max(1, access.line - 4); n <= access.line + 4; n++) {
    if (lines[n] === undefined) continue;
    const hit = n === access.line, at = hit && access.column ? access.column - 1 : -1, text = lines[n];
    pre.append(el("span", { class: hit ? "row hit" : "row" }, el("span", { class: "no" }, n),
      at >= 0 && at < text.length ? [text.slice(0, at), el("mark", {}, text[at]), text.slice(at + 1)] : text || " "));
  }
  return pre;
}

function framesOf(access) {
  const at = access.frames.findIndex((frame) => frame.file === access.file && frame.line === access.line);
  const texts = access.frames.map((frame, k) => k === at ? null : (k < at ? "which runs " : "inlined at ") +
    (frame.file ? shortFile(frame.file) + ":" + frame.line : "code without a line") + (frame.function ? " in " + frame.function : ""));
  const shown = texts.filter(Boolean);
  return shown.length ? el("ul", { class: "frames" }, shown.map((text) => el("li", {}, text))) : null;
}

function whoOf(access, race) {
  const parts = access.kind ? [(access.asynchronous ? "asynchronous " : "") + access.kind + (access.size ? " of " + plural(access.size, "byte") : "")] : [];
  if (access.scope) parts.push((access.volatile ? "volatile: " : "") + "strong, scope ." + access.scope);
  if (access.discarded) parts.push("its value not used");
  if (access.thread) parts.push("thread " + triple(access.thread), "block " + triple(access.block));
  if (access.lanes) parts.push("lanes " + access.lanes.join(" "));
  if (access.address) parts.push(race.space === "shared" ? "shared memory, offset " + access.address : race.space + " address " + access.address);
  const memory = access.memory;
  if (access.variable || (memory && memory.variable)) parts.push("in " + (access.variable || memory.variable));
  else if (access.argument) parts.push("through argument " + access.argument);
  if (memory) parts.push(`byte ${memory.offset} of ${memory.size}` + (memory.file ? ` allocated at ${shortFile(memory.file)}:${memory.line}` : memory.function ? " allocated in " + memory.function : ""));
  const launch = access.launch || race.launch;
  if (launch) parts.push("launch " + launch);
  return parts.join(", ");
}

// From where the program called CUDA.
function stackOf(access) {
  if (!access.stack || !access.stack.length) return null;
  const place = (frame) => (frame.function || "?") + (frame.file ? ` at ${shortFile(frame.file)}:${frame.line}` : "");
  return el("ul", { class: "frames" }, access.stack.map((frame, k) =>
    el("li", {}, (k ? "called by " : access.ptx_line ? "launched from " : `${access.called || "CUDA"} called from `) + place(frame))));
}

// What did something is a call of the API's: its name, and where it is.
function callOf(access) {
  const at = access.stack && access.stack.length && access.stack[0].file ? access.stack[0] : null;
  return access.called && !access.ptx_line ? access.called + (at ? ` at ${shortFile(at.file)}:${at.line}` : "") : null;
}

function sidePane(access, race, letter, title) {
  return el("div", { class: "side " + letter },
    el("h3", {}, title + ": " + (access.file ? shortFile(access.file) + ":" + (access.line || "?") : callOf(access) || access.kind || "") + (access.function && !callOf(access) ? " in " + access.function : "")),
    sourceOf(access, race), framesOf(access), el("p", {}, whoOf(access, race)), stackOf(access));
}

function kernelOf(race) { return report.coverage.kernels.find((kernel) => kernel.name === race.kernel && kernel.launches) || null; }

// Threads of a block: a row for each warp, a column for each lane.
function blockPicture(title, dims, marks) {
  const place = (v) => v[0] + dims[0] * (v[1] + dims[1] * v[2]), size = 9;
  const n = Math.max(dims[0] * dims[1] * dims[2], ...marks.map((mark) => place(mark.thread) + 1)), warps = Math.min(32, Math.ceil(n / 32));
  const svg = el("svg:svg", { width: 34 + 32 * size, height: 14 + warps * (size + 2), role: "img", "aria-label": title });
  for (let w = 0; w < warps; w++) {
    svg.append(el("svg:text", { x: 0, y: 20 + w * (size + 2) }, String(w)));
    svg.append(el("svg:rect", { class: "cell", x: 24, y: 12 + w * (size + 2), width: Math.min(32, n - 32 * w) * size, height: size }));
  }
  const seen = new Map();
  for (const mark of marks) seen.set(place(mark.thread), seen.has(place(mark.thread)) && seen.get(place(mark.thread)) !== mark.side ? "both" : mark.side);
  for (const [at, side] of seen)
    if (at < 32 * warps) svg.append(el("svg:rect", { class: side, x: 24 + at % 32 * size, y: 12 + Math.floor(at / 32) * (size + 2), width: size, height: size }));
  svg.append(el("svg:text", { x: 24, y: 9 }, "lane 0"), el("svg:text", { x: 24 + 27 * size, y: 9 }, "lane 31"));
  return el("figure", {}, svg, el("figcaption", {}, title));
}

// Where the blocks are in the grid.
function gridPicture(dims, marks) {
  const n = dims[0] * dims[1] * dims[2], width = 320;
  const svg = el("svg:svg", { width: width + 8, height: 34, role: "img", "aria-label": "blocks in the grid" }, el("svg:rect", { class: "cell", x: 2, y: 8, width, height: 16 }));
  for (const mark of marks) {
    const at = mark.block[0] + dims[0] * (mark.block[1] + dims[1] * mark.block[2]);
    svg.append(el("svg:rect", { class: mark.side, x: 2 + Math.min(width - 3, at * width / n), y: 8, width: Math.max(3, width / n - 1), height: 16 }));
  }
  return el("figure", {}, svg, el("figcaption", {}, "grid " + triple(dims) + ", " + plural(n, "block") + ": " +
    marks.map((mark) => "block " + triple(mark.block)).join(" and ")));
}

function pictures(race, sides) {
  const kernel = kernelOf(race), marks = [];
  sides.forEach((side, k) => { if (side.thread) marks.push({ thread: side.thread, block: side.block, launch: side.launch, side: "ab"[k] }); });
  if (!marks.length) return [];
  const dims = kernel && kernel.block ? kernel.block : [Math.max(...marks.map((m) => m.thread[0])) + 1, Math.max(...marks.map((m) => m.thread[1])) + 1, Math.max(...marks.map((m) => m.thread[2])) + 1];
  const same = marks.length < 2 || (marks[0].block.join() === marks[1].block.join() && marks[0].launch === marks[1].launch);
  const figures = same ? [blockPicture("block " + triple(marks[0].block) + ": " + marks.map((m) => "thread " + triple(m.thread)).join(" and "), dims, marks)]
    : marks.map((mark) => blockPicture((mark.launch ? "launch " + mark.launch + ", " : "") + "block " + triple(mark.block) + ": thread " + triple(mark.thread), dims, [mark]));
  if (kernel && kernel.grid && kernel.grid[0] * kernel.grid[1] * kernel.grid[2] > 1) figures.push(gridPicture(kernel.grid, same ? marks.slice(0, 1) : marks));
  const bytes = bytesPicture(race, sides);
  if (bytes) figures.push(bytes);
  return [el("h3", {}, "Threads and bytes"), el("div", { class: "pictures" }, figures)];
}

// The bytes that both sides touched.
function bytesPicture(race, sides) {
  const spans = sides.filter((side) => side.address && side.size).map((side) => [BigInt(side.address), BigInt(side.size)]);
  if (spans.length < 2) return null;
  const low = spans[0][0] < spans[1][0] ? spans[0][0] : spans[1][0], ends = spans.map(([at, n]) => at + n), high = ends[0] > ends[1] ? ends[0] : ends[1];
  const n = Number(high - low), size = 14;
  if (n > 32) return null;
  const svg = el("svg:svg", { width: 20 + n * size, height: 50, role: "img", "aria-label": "bytes of both sides" });
  spans.forEach(([at, length], k) => {
    svg.append(el("svg:text", { x: 0, y: 20 + 20 * k }, "AB"[k]));
    for (let i = 0; i < n; i++)
      svg.append(el("svg:rect", { class: i >= Number(at - low) && i < Number(at - low + length) ? "ab"[k] : "cell", x: 18 + i * size, y: 9 + 20 * k, width: size - 2, height: 14 }));
  });
  return el("figure", {}, svg, el("figcaption", {}, "bytes from " + (race.space === "shared" ? "offset " : "") + "0x" + low.toString(16)));
}

function valuesOf(race) {
  if (!race.expected) return [];
  return [el("h3", {}, "Values"), definitions([[race.stored_first ? "stored" : "first read", race.expected], ["then saw", race.seen],
    race.lanes ? ["lanes", `${race.lanes.stored_expected.join(" ")} stored the one, ${race.lanes.stored_seen.join(" ")} the other`] : null,
    race.noticed ? ["noticed by", whoOf(race.noticed, race)] : null])];
}

function confirmation(race) {
  if (race.witness === null) return el("p", {}, "Not confirmed: causality saw no such race in the same execution.");
  if (race.witness && typeof race.witness === "object") return el("p", {}, `Confirmed by causality in the same execution: ${race.witness.class}. ${race.witness.sentence || ""}`);
  return race.witness ? el("p", {}, "With: " + race.witness) : null;
}

function fixOf(entry) {
  if (!entry.fix) return null;
  const repair = entry.repair;
  return el("div", { class: "fix" }, el("p", {}, el("strong", {}, "Fix: "), entry.fix + (repair ? ` in ${shortFile(repair.file)}. ` : ". "),
    repair ? el("span", { class: "soft" }, "gpurace repair tries such edits in a copy.") : null),
  repair ? el("pre", { class: "diff" }, ...repair.hunks.trimEnd().split("\n").map((line) =>
    el("span", { class: { "+": "new", "-": "gone", "@": "soft" }[line[0]] || "" }, line + "\n"))) : null);
}

function seenIn(race) {
  if (!race.seen_in) return [];
  return [el("h3", {}, `Seen in ${race.seen_in.length} of ${plural(report.runs.length, "run")}`), el("p", {}, "seeds " +
    race.seen_in.map((seen) => runs.get(seen.run).seed + (seen.count > 1 ? ` (${seen.count} times)` : "")).join(", "))];
}

function sidesOf(race) {
  const pair = pairOf(race), sides = pair.accesses;
  return el("div", { class: "sides" }, sidePane(sides[0], pair, "a", race.misuse ? "here" : "one side"),
    sides[1] ? sidePane(sides[1], pair, "b", sides[1].lanes ? "other lanes of the instruction" : race.replay ? "other side, caught by a replay" : "other side")
      : race.misuse ? null : el("div", { class: "side b" }, el("h3", {}, "other side"), el("p", {}, "Not known: this engine sees one side.")));
}

// All that is known of a race besides its sides.
function factsOf(race, cause) {
  const pair = pairOf(race), sides = pair.accesses;
  return [race.outcome ? el("p", {}, "Outcome: " + race.outcome) : null, confirmation(race), valuesOf(race), pictures(pair, sides), el("h3", {}, cause && race.entry.races.length > 1 ? "Facts of the race that is shown" : "Facts"),
    definitions([["class", race.class], ["kernel", race.kernels ? `${race.kernels.number} kernels: ${race.kernels.names.join("; ")}` : race.kernel], ["module", race.module],
      ["launch", race.launch], ["space", race.space], ["overlap", pair.overlap ? plural(pair.overlap.bytes, "byte") + " at " + (race.space === "shared" ? "offset " : "") + pair.overlap.address : null],
      ["variable", [...new Set(sides.map((side) => side.variable || (side.memory && side.memory.variable) || (side.argument ? "what argument " + side.argument + " points to" : "")).filter(Boolean))].join("; ")],
      ["occurred", plural(race.count, "time")], ["instructions", race.instructions > 1 ? race.instructions : null],
      ["evidence", race.evidence ? `${race.evidence} (engine ${race.engine})` : race.engine], ["id", race.id], ["id of the cause", cause], ["baseline", race.known === true ? "known" : race.known === false ? "new" : null]]),
    seenIn(race)];
}

// The races of a cause, folded. What one has inside is made when it is opened. `open`: that of the address.
function occurrences(entry, open) {
  if (entry.races.length < 2) return [];
  return [el("h3", {}, `It is seen as ${entry.races.length} races`), entry.races.map((race) => {
    const pair = pairOf(race), [first, other] = pair.accesses;
    const fill = (event) => {
      if (event.target.open && event.target.children.length < 2)
        event.target.append(el("p", {}, race.meaning), sidesOf(race), el("div", { class: "order" }, el("strong", {}, "Missing: "), race.sentence || pair.sentence || "some order between the two threads"),
          ...factsOf(race).flat(Infinity).filter(Boolean));
    };
    return el("details", { class: "race", "data-id": race.id, open: race === open, toggle: fill }, el("summary", {}, race.class + ": " + placeOf(first) +
      (other && placeOf(other) !== placeOf(first) ? " and " + placeOf(other) : "") + ", " + plural(race.count, "time"), race === entry.shown ? el("span", { class: "soft" }, ", shown above") : null));
  })];
}

function suppression(entry) {
  const rules = [...new Set(entry.races.map((race) => race.rule).filter(Boolean))];
  if (!rules.length) return [];
  return [el("h3", {}, "To suppress it"), el("p", { class: "soft" }, rules.length > 1 ? "Lines for the file of --suppressions, with the reason above them. They hide these races and no others:"
    : "A line for the file of --suppressions, with the reason above it. It hides this race and no other:"), copyable("# why this is no problem\n" + rules.join("\n"), "the rule")];
}

function entryPage(entry, open) {
  const race = entry.shown, pair = pairOf(race), next = entries[entry.number + 1], before = entries[entry.number - 1];
  const kernel = race.kernels ? ` in ${race.kernels.number} kernels` : entry.kernel ? " in kernel " + entry.kernel : "";
  return el("section", { id: "cause" },
    el("nav", { class: "pages" }, el("a", { href: "#" }, "all"), before ? el("a", { href: before.href, rel: "prev" }, "previous") : null, next ? el("a", { href: next.href, rel: "next" }, "next") : null),
    el("h2", {}, (!entry.misuse ? "Data race: " : entry.what === "stray access" ? "Memory misuse: " : "Synchronization misuse: ") + entry.what + (entry.on ? " on " + entry.on : "") + kernel),
    el("p", {}, entry.meaning), fixOf(entry), sidesOf(race),
    el("div", { class: "order" }, entry.why ? el("p", {}, el("strong", {}, "Why: "), entry.why + ".") : null,
      el("p", {}, el("strong", {}, entry.misuse ? "What happened: " : "Missing: "), race.sentence || pair.sentence || race.detail || "some order between the two threads")),
    occurrences(entry, open), factsOf(race, entry.misuse ? null : entry.id), entry.seen_in && entry.races.length > 1 ? [el("h3", {}, "All its races"), seenIn(entry)] : [],
    el("h3", {}, "Again"), copyable(race.again, "the command"), suppression(entry));
}

// ---- The page --------------------------------------------------------------------------------------------------------

let indexSection = null;
function show() {
  const [, kind, id] = location.hash.match(/^#(cause|race)-(.*)$/) || [], race = kind === "race" ? byId.get(decodeURIComponent(id)) : null;
  const entry = race ? race.entry : kind && entries.find((one) => one.href === location.hash);
  const main = document.querySelector("main");
  if (entry) {
    main.replaceChildren(entryPage(entry, race));
    document.title = shown(entry.what + " at " + entry.place) + " - gpurace";
    scrollTo(0, 0);
    return;
  }
  document.title = "gpurace: " + report.verdict;
  if (!indexSection) indexSection = index();
  main.replaceChildren(indexSection);
  if (rows) update();
}

function theme(wanted) {
  if (wanted) document.documentElement.dataset.theme = wanted;
  try { if (wanted) localStorage.setItem("gpurace-theme", wanted); else return localStorage.getItem("gpurace-theme"); } catch { /* a page may have no storage */ }
  return null;
}

function isDark() { return (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark"; }

document.body.prepend(el("header", {}, el("h1", {}, el("a", { href: "#" }, "gpurace")),
  el("span", { class: "verdict " + report.verdict }, report.summary), el("span", { class: "spacer" }), el("span", { class: "soft" }, report.tool),
  el("button", { type: "button", id: "theme", click: () => theme(isDark() ? "light" : "dark") }, "light / dark")));
theme(theme());
addEventListener("hashchange", show);
show();
