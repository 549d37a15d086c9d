// Runs before the page is drawn, so that a page in the chosen colours never flashes in others. No module: those run later.
{
  const chosen = localStorage.getItem("svc-docs-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
}
