/** Shows the button that switches between light and dark colours. The browser stores the choice. */
export function startThemeSwitch(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-theme-switch]");
  if (button === null) return;
  const root = document.documentElement;
  const isDark = () =>
    (root.dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "")) === "dark";
  const show = () => {
    button.textContent = isDark() ? "Light" : "Dark";
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = isDark() ? "light" : "dark";
    root.dataset["theme"] = next;
    localStorage.setItem("svc-docs-theme", next);
    show();
  });
  show();
}
