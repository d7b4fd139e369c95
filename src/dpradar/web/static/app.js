// Live answers: fetch a part of the page, put it in its place, keep the address in step. Everything works without it.
(() => {
  "use strict";
  const byId = (id) => document.getElementById(id);
  let waiting = null, timer = 0, polling = 0;
  let pushed = false; // the change that is under way has its entry in the history
  document.documentElement.classList.add("live");

  const valueAt = ({ value: position, dataset: { low, high, log, whole } }) => {
    const share = position / 1000;
    const value = log ? low * (high / low) ** share : Number(low) + (high - low) * share;
    return String(whole ? Math.round(value) : Number(value.toPrecision(3)));
  };
  const positionOf = ({ dataset: { low, high, log } }, text) => {
    const value = Math.min(Math.max(Number(text) || 0, low), high);
    return Math.round(1000 * (log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low)));
  };

  const bodyOf = (form) => {
    let pairs = [...new FormData(form)].filter(([name, text]) => text !== "" || form.elements[name].dataset?.kept);
    if (form.dataset.sent) pairs = pairs.filter(([name]) => form.elements[name].dataset?.redraws); // too long otherwise
    return new URLSearchParams(pairs);
  };

  const settle = () => {
    const status = byId("live-status"), verdict = document.querySelector("#answer .lead, #answer .problem p + p");
    if (status) status.textContent = verdict ? verdict.textContent : "";
    clearTimeout(polling);
    if (document.querySelector("#answer [data-running]")) polling = setTimeout(() => load(location.href, "answer"), 500);
  };

  const show = (part, html) => {
    const focused = document.activeElement?.id, place = byId(part);
    const open = [...place.querySelectorAll("details[open] > summary")].map((one) => one.textContent);
    place.innerHTML = html;
    for (const one of place.querySelectorAll("summary")) if (open.includes(one.textContent)) one.parentNode.open = true;
    if (focused && part === "screen") byId(focused)?.focus();
    settle();
  };

  // What a form asks is sent as a body, which may start work; the answer is at the address it leads to.
  const send = (form, part, keep) => load(form.getAttribute("action"), part, keep, { method: "POST", body: bodyOf(form) });

  const load = async (address, part, keep, how = {}) => {
    waiting?.abort();
    const mine = (waiting = new AbortController());
    byId("answer").setAttribute("aria-busy", "true");
    try {
      const response = await fetch(address, { ...how, headers: { "X-Part": part }, signal: mine.signal });
      const html = await response.text();
      if (mine.signal.aborted || response.status === 204) return;
      if (keep) {
        if (response.redirected && response.url !== location.href) history[pushed ? "replaceState" : "pushState"](null, "", response.url);
        pushed = keep === "going";
      }
      show(part, html);
    } catch (error) {
      if (error.name === "AbortError") return;
      byId("answer").innerHTML = '<p class="problem" role="alert">The server does not answer. Is it still running?</p>';
    } finally {
      if (waiting === mine) byId("answer").removeAttribute("aria-busy");
    }
  };

  document.addEventListener("input", ({ target }) => {
    const form = target.closest("form");
    const slider = target.type === "range" ? target : byId(`${target.id}-slider`);
    if (slider === target) byId(target.dataset.for).value = valueAt(target);
    else if (slider) slider.value = positionOf(slider, target.value);
    if (slider) slider.setAttribute("aria-valuetext", byId(slider.dataset.for).value);
    if (!form?.dataset.live || target.matches("select")) return;
    clearTimeout(timer);
    timer = setTimeout(() => send(form, "answer", "going"), 120);
  });

  document.addEventListener("change", ({ target }) => {
    const form = target.closest("form");
    if (!form?.dataset.live && !target.dataset.redraws) return;
    clearTimeout(timer);
    send(form, target.dataset.redraws ? "screen" : "answer", "over");
  });

  document.addEventListener("submit", (event) => {
    if (!event.target.dataset.live) return;
    event.preventDefault();
    send(event.target, "answer", "over");
  });

  document.addEventListener("click", async ({ target }) => {
    if (!target.dataset?.copies) return;
    await navigator.clipboard.writeText(byId(target.dataset.copies).textContent);
    target.textContent = "Copied";
    setTimeout(() => (target.textContent = "Copy"), 1500);
  });

  addEventListener("popstate", () => load(location.href, "screen"));
  if (byId("answer")) settle();
})();
