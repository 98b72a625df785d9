"use strict";
(async () => {
  const root = document.querySelector(".live"), all = x => [...root.querySelectorAll(x)];
  const D = JSON.parse(document.getElementById("live-data").textContent);
  async function loaded(packed, arrays) {              // a program, and its arrays by name
    const bytes = Uint8Array.from(atob(packed), x => x.charCodeAt(0));
    const { instance: { exports: wasm } } = await WebAssembly.instantiate(bytes);
    const at = {}, places = [];
    for (const [name, size] of arrays) {
      places.push(wasm[name].value);
      at[name] = new Float64Array(wasm.memory.buffer, wasm[name].value, size);
    }
    return { at, run: () => wasm.kernel(...places) };
  }
  const { at, run } = await loaded(D.wasm, D.arrays);
  const step = D.loops ? await loaded(D.loops.wasm, D.loops.arrays) : null;
  const { bones, rods, cuts, tools, reach, size, full, follows } = D.skeleton;
  let center = D.skeleton.center;
  let [turn, tilt] = D.skeleton.view, zoom = 1, degrees = false, waiting = false, serial = 0;

  const text = x => {                                  // as the cells are written without script
    if (Math.abs(x) < 1e-9) return "0";
    const short = +x.toPrecision(3), size = Math.abs(short);
    return (size >= 1e6 || size < 1e-4 ? x.toExponential(2) : String(short)).replace("-", "−");
  };

  // ------------------------------------------------------------------------------------- sliders
  const sliders = all("input[type=range]").map(input => ({
    input, output: input.parentElement.querySelector("output"), array: input.dataset.of,
    k: +input.dataset.at, turn: input.dataset.turn, zero: +input.dataset.zero,
    angle: input.dataset.unit.startsWith("rad"), unit: input.dataset.unit,
    span: input.max - input.min }));
  function told(s) {
    const x = +s.input.value, unit = degrees && s.angle ? s.unit.replace("rad", "°") : s.unit;
    s.output.textContent = `${text(degrees && s.angle ? x * 180 / Math.PI : x)} ${unit}`;
    s.input.setAttribute("aria-valuetext", s.output.textContent);
  }
  function taken() {                                   // what the sliders say, into q, v and a
    const turns = new Map();
    for (const s of sliders) {
      const x = +s.input.value;
      if (s.turn === undefined) at[s.array][s.k] = x;
      else turns.set(s.k, [...(turns.get(s.k) ?? []), x]);
    }
    for (const [k, r] of turns) {                      // a quaternion x y z w by its turning vector
      const angle = Math.hypot(...r), f = angle ? Math.sin(angle / 2) / angle : 0.5;
      at.q.set([...r.map(x => f * x), Math.cos(angle / 2)], k);
    }
  }
  // --------------------------------------------------------------------------------------- loops
  let held = step ? Float64Array.from(D.loops.start) : null;      // closed
  if (step) at.q.set(held);
  function newton(q) {                                 // q with its loops closed, or nothing
    step.at.q.set(q);
    for (let k = 0; k < 20; ++k) {
      step.run();
      const far = step.at.loop_step.reduce((m, x, i) => Math.max(m, Math.abs(x - step.at.q[i])), 0);
      if (!(far < 1)) return null;
      step.at.q.set(step.at.loop_step);
      if (far < 1e-11) return step.at.q.slice();
    }
    return null;
  }
  function close() {                                   // as far towards the sliders as loops let
    const from = held, to = at.q.slice(), { y, turns } = D.loops;
    const way = y.reduce((m, i) => Math.max(m, Math.abs(to[i] - from[i])), 0);
    const n = Math.max(1, Math.ceil(way / 0.05));
    for (let k = 1; k <= n; ++k) {
      const q = held.slice();
      for (const i of y) q[i] = from[i] + (to[i] - from[i]) * k / n;
      for (const i of turns) {
        const long = Math.hypot(...q.subarray(i, i + 4));
        for (let j = i; j < i + 4; ++j) q[j] /= long;
      }
      const found = newton(q);
      if (!found) break;
      held = found;
    }
    at.q.set(held);
    for (const s of sliders) if (s.array === "q" && s.turn === undefined && s.k in held
        && Math.abs(s.input.value - held[s.k]) > 1e-9) { s.input.value = held[s.k]; told(s); }
  }
  function put(s, x) {
    const within = Math.min(Math.max(x, +s.input.min), +s.input.max);
    s.input.value = Math.abs(within) < s.span * 1e-9 ? 0 : within;
    told(s); later();
  }
  for (const s of sliders) {
    s.input.addEventListener("input", () => {
      if (Math.abs(s.input.value) < s.span / 400) s.input.value = 0;      // zero can be reached
      told(s); later();
    });
    s.input.addEventListener("keydown", e => {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10,
                     PageDown: -10 }[e.key];
      if (step === undefined && e.key !== "0") return;
      e.preventDefault();
      put(s, e.key === "0" ? 0 : +s.input.value + step * s.span / 100);
    });
  }
  const buttons = {
    home: () => sliders.forEach(s => put(s, s.zero)),
    random: () => sliders.filter(s => s.array === "q").forEach(s =>
      put(s, +s.input.min + Math.random() * s.span)),
    degrees: button => {
      degrees = !degrees; button.setAttribute("aria-pressed", degrees); sliders.forEach(told); } };
  for (const b of all("button")) b.addEventListener("click", () => buttons[b.dataset.does](b));

  // ------------------------------------------------------------------------------------- numbers
  const tables = all("table[data-values]").map(table => ({
    names: table.dataset.values.split(" "), shade: table.classList.contains("matrix"),
    numbers: !table.classList.contains("fine"), limit: table.dataset.limits !== undefined,
    cells: [...table.querySelectorAll("tbody td.n")] }));
  const fixed = (x, places) => {
    const y = x.toFixed(places); return +y ? y.replace("-", "−") : "0"; };
  function filled(table) {
    table.names.forEach((name, j) => {
      const most = table.shade ? at[name].reduce((m, x) => Math.max(m, Math.abs(x)), 0) : 0;
      const places = most ? Math.max(0, 3 - Math.floor(Math.log10(most))) : 0;
      at[name].forEach((x, k) => {
        const c = table.cells[table.names.length * k + j];
        c.title = x;
        if (table.numbers) c.textContent = table.shade ? fixed(x, places) : text(x);
        if (most) {
          const part = (0.6 * Math.sqrt(Math.abs(x) / most)).toFixed(2);
          c.style.background = `rgba(var(${x < 0 ? "--minus" : "--plus"}),${part})`;
        }
        if (table.limit) c.classList.toggle("over", Math.abs(x) > (D.effort[k] ?? Infinity));
      });
    });
  }
  const python = x => `[${Array.from(x, y => String(y)).join(", ")}]`;
  const state = root.querySelector("pre.state");

  // ------------------------------------------------------------------------------------- drawing
  const svg = root.querySelector("svg.robot"), part = x => [...svg.querySelectorAll(x)];
  const drawn = { grid: part(".grid"), bone: part(".bone"), rod: part(".rod"), tool: part(".tool"),
                  joint: part(".joint"), cut: part(".cut"), mass: part(".mass") };
  const point = (k, p = [0, 0, 0]) => {
    if (!k) return p;
    const T = at.poses.subarray(16 * k - 16, 16 * k);
    return [0, 4, 8].map(i => T[i] * p[0] + T[i + 1] * p[1] + T[i + 2] * p[2] + T[i + 3]);
  };
  const seen = p => {
    const s = zoom * full * size / reach, [x, y, z] = p.map((v, i) => s * (v - center[i]));
    const c = Math.cos(turn), d = Math.sin(turn);
    return [c * x - d * y, Math.sin(tilt) * (d * x + c * y) - Math.cos(tilt) * z];
  };
  const line = (e, a, b) => {
    const [x1, y1] = seen(a), [x2, y2] = seen(b);
    for (const [k, v] of Object.entries({ x1, y1, x2, y2 })) e.setAttribute(k, v.toFixed(1));
  };
  const dot = (e, p) => {
    const [x, y] = seen(p); e.setAttribute("cx", x.toFixed(1)); e.setAttribute("cy", y.toFixed(1)); };
  function follow() {                                  // a robot that floats stays in the view
    const all = drawn.joint.map((_, k) => point(k + 1));
    center = D.skeleton.center.map((c, i) => {
      const x = all.map(p => p[i]), far = (Math.min(...x) + Math.max(...x)) / 2 - c;
      return c + Math.sign(far) * Math.max(0, Math.abs(far) - reach / 4);
    });
  }
  function draw() {
    if (follows) follow();
    D.grid.forEach(([a, b], k) => line(drawn.grid[k], a, b));
    bones.forEach(([a, p, b, q], i) => line(drawn.bone[i], point(a, p), point(b, q)));
    rods.forEach(([a, p, b, q], i) => line(drawn.rod[i], point(a, p), point(b, q)));
    cuts.forEach(([k, p], i) => dot(drawn.cut[i], point(k, p)));
    tools.forEach(([k, p], i) => line(drawn.tool[i], point(k), point(k, p)));
    drawn.joint.forEach((e, k) => dot(e, point(k + 1)));
    drawn.mass.forEach(e => dot(e, [...at.center_of_mass]));
  }
  function view(x, y, z = 1) {
    turn += x; tilt = Math.min(Math.max(tilt + y, -1.57), 1.57);
    zoom = Math.min(Math.max(zoom * z, 0.2), 8); draw();
  }
  svg.addEventListener("pointermove", e => {
    if (e.buttons) view(-e.movementX / 150, e.movementY / 150); });
  svg.addEventListener("keydown", e => {
    const move = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1],
                   ArrowDown: [0, -0.1], "+": [0, 0, 1.15], "-": [0, 0, 1 / 1.15] }[e.key];
    if (move) { e.preventDefault(); view(...move); } });

  function update() {
    const start = performance.now();
    waiting = false;
    taken(); if (step) close();
    run(); tables.forEach(filled); draw();
    state.textContent = `q = ${python(at.q)}\nv = ${python(at.v)}\na = ${python(at.a)}`;
    root.dataset.ms = (performance.now() - start).toFixed(3);
    root.dataset.serial = ++serial;
  }
  function later() {
    if (!waiting) { waiting = true; requestAnimationFrame(update); } }
  sliders.forEach(told);
  root.classList.add("running");
  update();
})();
