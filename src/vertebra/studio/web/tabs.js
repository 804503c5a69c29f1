// Tabs, folders and sliders of viser's page for screen readers and the keyboard; copies the link.
(() => {
  "use strict";

  // The studio writes the chosen tab into an element of the page; viser draws the buttons.
  function markTabs() {
    const mark = document.querySelector(".vb-mode");
    if (!mark) return;
    const titles = mark.dataset.tabs.split(",");
    const buttons = Array.from(document.querySelectorAll("button")).filter((button) =>
      titles.includes(button.textContent.trim()),
    );
    for (const button of buttons) {
      const chosen = String(button.textContent.trim() === mark.dataset.mode);
      if (button.getAttribute("aria-selected") === chosen) continue;
      button.classList.add("vb-tab");
      button.setAttribute("role", "tab");
      button.setAttribute("aria-selected", chosen);
      const list = button.parentElement;
      list.setAttribute("role", "tablist");
      list.setAttribute("aria-label", "What the studio shows");
      list.parentElement.parentElement.classList.add("vb-tabrow");
    }
  }

  // The small tools of viser's panel have pictures only; names for those who cannot see them.
  function nameButtons() {
    for (const button of document.querySelectorAll("button:not([aria-label])")) {
      if (!button.textContent.trim() && button.title) button.setAttribute("aria-label", button.title);
    }
  }

  // Viser's folders open by mouse only; with these they are buttons to the keyboard and to screen readers too.
  function openFoldersByKey() {
    for (const arrow of document.querySelectorAll(".tabler-icon-chevron-down, .tabler-icon-chevron-up")) {
      const label = arrow.parentElement;
      const input = label.closest("[role=combobox], button, [data-combobox-target]");
      if (input || !label.textContent.trim()) continue;
      const open = String(arrow.classList.contains("tabler-icon-chevron-up"));
      if (label.getAttribute("aria-expanded") === open) continue;
      label.setAttribute("role", "button");
      label.setAttribute("tabindex", "0");
      label.setAttribute("aria-expanded", open);
    }
  }

  // A label that the eye sees beside a slider belongs to its number box too.
  function nameNumbers() {
    for (const slider of document.querySelectorAll("[role=slider]:not([aria-label])")) {
      const row = slider.closest(".mantine-Slider-root");
      const label = row && document.querySelector(`label[for="${row.id}"]`);
      if (!label) continue;
      slider.setAttribute("aria-label", label.textContent);
      row.parentElement.querySelector("input:not([type=hidden])")?.setAttribute("aria-label", label.textContent);
    }
  }

  // A tablet has room for one panel beside the robot: the results start folded away at the edge, one tap from it.
  const NARROW = 1000;
  let folded = false;
  function foldResults() {
    const edge = document.querySelector('[data-dock-region-collapse="right"][aria-expanded="true"]');
    if (folded || innerWidth >= NARROW || !edge) return;
    folded = true;
    edge.click();
  }

  let due = false;
  new MutationObserver(() => {
    if (due) return;
    due = true;
    requestAnimationFrame(() => {
      due = false;
      markTabs();
      nameButtons();
      openFoldersByKey();
      nameNumbers();
      foldResults();
    });
  }).observe(document, { childList: true, subtree: true, attributes: true, attributeFilter: ["data-mode"] });

  // Left and right arrows move between the tabs, as everywhere else.
  addEventListener("keydown", (event) => {
    const tab = event.target;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!(tab instanceof HTMLElement) || tab.getAttribute("role") !== "tab" || !step) return;
    const tabs = Array.from(tab.parentElement.children);
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  });

  addEventListener("keydown", (event) => {
    const folder = event.target;
    if (!(folder instanceof HTMLElement) || !folder.hasAttribute("aria-expanded")) return;
    if (folder.getAttribute("role") !== "button" || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    folder.click();
  });

  addEventListener("click", (event) => {
    if (!(event.target instanceof HTMLElement) || !event.target.dataset.copy) return;
    const link = document.querySelector(`a[data-value="${event.target.dataset.copy}"]`);
    navigator.clipboard.writeText(link.href).then(
      () => (event.target.textContent = "Copied"),
      () => (event.target.textContent = "Copy the link by hand"),
    );
  });
})();
