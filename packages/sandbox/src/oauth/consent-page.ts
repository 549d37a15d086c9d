/** A page of plain HTML: no script, no style, nothing from elsewhere, so that the strictest content security policy lets it be. */
export type ConsentPage = { readonly status: number; readonly html: string };

/** Where the consent page is served, and where its form posts to. */
export const authorizePath = "/sandbox/authorize";

/** Asks whether an app may be used: names the toolkit and each scope; the form carries the sealed request. */
export function consentPage({
  name,
  scopes,
  request,
}: {
  name: string;
  scopes: readonly string[];
  request: string;
}): ConsentPage {
  const list =
    scopes.length === 0
      ? "<p>No particular scopes are asked for.</p>"
      : `<p>It asks for these scopes:</p>\n<ul>\n${scopes.map((scope) => `<li><code>${escapeHtml(shownScope(scope))}</code></li>`).join("\n")}\n</ul>`;
  return page(
    200,
    `Connect ${name}`,
    `<p>This is the sandbox: the account you connect is made up, and no data leaves the service.</p>
${list}
<form method="post" action="${authorizePath}">
<input type="hidden" name="request" value="${escapeHtml(request)}">
<button type="submit" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny">Deny</button>
</form>`,
  );
}

/** A scope as a person reads it: the deployment names no base of scopes where there is no app, and a placeholder would say nothing. */
function shownScope(scope: string): string {
  return scope.replace(/^\{scope_base\}\//, "");
}

/** Says what is wrong with a request that may not be redirected anywhere. */
export function errorPage(status: number, message: string): ConsentPage {
  return page(status, "This cannot be connected", `<p role="alert">${escapeHtml(message)}</p>`);
}

function page(status: number, title: string, body: string): ConsentPage {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${body}
</main>
</body>
</html>
`;
  return { status, html };
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}
