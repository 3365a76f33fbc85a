// The tree of sessions: roving focus, arrows, Home, End, type-ahead, children fetched when a node is first opened.
// Without this script the nodes are plain links, and each page shows the tree open down to its session.
(() => {
  "use strict";
  const TYPE_AHEAD_MS = 700;
  let typed = "";
  let typedAt = 0;

  const tree = () => document.getElementById("tree");
  const node = (target) => (target instanceof Element ? target.closest('#tree [role="treeitem"]') : null);
  const groupOf = (item) => item.parentElement.querySelector(':scope > [role="group"]');
  const isOpen = (item) => item.getAttribute("aria-expanded") === "true";
  const canOpen = (item) => item.hasAttribute("aria-expanded");
  const visible = () => [...tree().querySelectorAll('[role="treeitem"]')].filter((item) => !item.closest("[hidden]"));

  function parentOf(item) {
    const group = item.closest('[role="group"]');
    return group ? group.parentElement.querySelector(':scope > [role="treeitem"]') : null;
  }

  // One node is in the tab order: the one that was focused last, else the chosen one, else the first.
  function rove(to) {
    const items = tree()?.querySelectorAll('[role="treeitem"]') ?? [];
    const stop = to ?? tree()?.querySelector('[tabindex="0"]') ?? tree()?.querySelector("[aria-current]") ?? items[0];
    for (const item of items) {
      const tabindex = item === stop ? "0" : "-1";
      if (item.getAttribute("tabindex") !== tabindex) item.setAttribute("tabindex", tabindex);
    }
  }

  function focus(item) {
    if (!item) return;
    rove(item);
    item.focus();
    item.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  function open(item) {
    const group = groupOf(item);
    item.setAttribute("aria-expanded", "true");
    group.hidden = false;
    if (group.dataset.loaded !== undefined) return;
    group.dataset.loaded = "";
    group.setAttribute("aria-busy", "true");
    window.htmx.trigger(group, "tree-open", {}, false);
  }

  function close(item) {
    item.setAttribute("aria-expanded", "false");
    groupOf(item).hidden = true;
  }

  const toggle = (item) => (isOpen(item) ? close(item) : open(item));

  function right(item) {
    if (!canOpen(item)) return;
    if (isOpen(item)) focus(groupOf(item).querySelector('[role="treeitem"]'));
    else open(item);
  }

  function left(item) {
    if (canOpen(item) && isOpen(item)) close(item);
    else focus(parentOf(item));
  }

  function openSiblings(item) {
    for (const sibling of item.closest('[role="group"], [role="tree"]').children) {
      const other = sibling.querySelector(':scope > [role="treeitem"]');
      if (other && canOpen(other) && !isOpen(other)) open(other);
    }
  }

  function typeAhead(item, letter) {
    const now = Date.now();
    typed = now - typedAt > TYPE_AHEAD_MS ? letter : typed + letter;
    typedAt = now;
    const items = visible();
    // The first letter looks further on, more letters first look at the node they brought up.
    const from = items.indexOf(item) + (typed.length === 1 ? 1 : 0);
    const wanted = typed.toLocaleLowerCase();
    const label = (other) => (other.querySelector(".node-title") ?? other).textContent.trim().toLocaleLowerCase();
    focus([...items.slice(from), ...items.slice(0, from)].find((other) => label(other).startsWith(wanted)));
  }

  const KEYS = {
    ArrowDown: (item, items) => focus(items[items.indexOf(item) + 1]),
    ArrowUp: (item, items) => focus(items[items.indexOf(item) - 1]),
    ArrowRight: right,
    ArrowLeft: left,
    Home: (item, items) => focus(items[0]),
    End: (item, items) => focus(items.at(-1)),
    " ": (item) => item.click(),
    "*": openSiblings,
  };

  document.addEventListener("keydown", (event) => {
    const item = node(event.target);
    if (!item || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = KEYS[event.key];
    if (key) key(item, visible());
    else if (event.key.length === 1 && event.key !== "/") typeAhead(item, event.key);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });

  // Before htmx sees it: a click on the twisty opens the node and chooses nothing.
  document.addEventListener(
    "click",
    (event) => {
      const item = node(event.target);
      if (!item) return;
      if (event.target.closest("[data-twisty]") && canOpen(item)) {
        event.preventDefault();
        event.stopPropagation();
        toggle(item);
        rove(item);
      } else if (!item.classList.contains("node--more") && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
        rove(item);
        closePane();
      }
    },
    true,
  );

  document.addEventListener("focusin", (event) => {
    const item = node(event.target);
    if (item) rove(item);
  });

  // What is chosen follows the address, whoever changed it.
  function mark() {
    for (const item of tree()?.querySelectorAll('[role="treeitem"]') ?? []) {
      const path = new URL(item.href, location.href).pathname;
      const chosen = !item.classList.contains("node--more") && location.pathname.startsWith(path);
      if (chosen) item.setAttribute("aria-current", "page");
      else item.removeAttribute("aria-current");
    }
  }

  // Narrow screens: the tree is a drawer --------------------------------------------------------------------------
  const pane = () => document.getElementById("tree-pane");

  function openPane() {
    pane().dataset.open = "";
    for (const button of document.querySelectorAll("[data-tree-open]")) button.setAttribute("aria-expanded", "true");
    (tree()?.querySelector('[tabindex="0"]') ?? pane().querySelector("a, button"))?.focus();
  }

  function closePane(back = false) {
    if (pane()?.dataset.open === undefined) return;
    delete pane().dataset.open;
    for (const button of document.querySelectorAll("[data-tree-open]")) button.setAttribute("aria-expanded", "false");
    if (back) document.querySelector("[data-tree-open]")?.focus();
  }

  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    if (event.target.closest("[data-tree-open]")) openPane();
    if (event.target.closest("[data-tree-close]")) closePane(true);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closePane(true);
  });

  function freshen() {
    for (const button of document.querySelectorAll("[data-tree-open], [data-tree-close]")) button.hidden = false;
    pane()?.classList.add("tree-pane--drawer");
    rove();
  }

  document.addEventListener("htmx:after:swap", freshen);
  document.addEventListener("htmx:error", (event) => {
    if (event.target instanceof Element && event.target.closest(".tree-group")) delete event.target.dataset.loaded;
  });
  document.addEventListener("htmx:finally:request", (event) => {
    if (event.target instanceof Element) event.target.removeAttribute("aria-busy");
  });
  document.addEventListener("htmx:after:history:update", mark);
  freshen();
  tree()?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
})();
