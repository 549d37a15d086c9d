// Sets the chosen colours before the browser draws the page, so that the page never flashes in other colours. This file is not a module,
// because modules run after the first drawing.
{
  const chosen = localStorage.getItem("svc-docs-theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
}
