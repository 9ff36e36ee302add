// `/` the question, `[` `]` steps, arrows through the facts, Esc clears. Not while something is typed or chosen.

const TAKES_KEYS =
  "input, textarea, select, [contenteditable=''], [contenteditable='true'], " +
  "[role=listbox], [role=menu], [role=dialog], [role=radiogroup], [role=combobox]";

export const HELP = [
  ["/", "to the question"],
  ["[  ]", "step back, step on"],
  ["↑  ↓", "through the facts"],
  ["Esc", "clear the selection"],
];

/** Listens for the page until the function that it returns is called. */
export function listenForKeys(actions) {
  const onKey = (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = event.composedPath()[0];
    if (target instanceof Element && target.closest(TAKES_KEYS)) return;
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}

export function focusQuestion() {
  const input = document.querySelector(".st-key-q input");
  input?.focus();
  input?.select();
}
