/** A page of plain HTML without scripts, styles or external content, so that it works under the strictest content security policy. */
export type ConsentPage = { readonly status: number; readonly html: string };

/** Path of the consent page. The page's form is posted to the same path. */
export const authorizePath = "/sandbox/authorize";

/**
 * Returns the page that asks for permission to use an app. The page names the toolkit (app) and each scope. Its form contains the sealed
 * authorization request.
 */
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

/**
 * Returns a scope as the page shows it. In tool definitions, a scope can begin with the placeholder `{scope_base}`, which the deployment's
 * registered OAuth app replaces. Without a registered app, the placeholder has no value and is removed.
 */
function shownScope(scope: string): string {
  return scope.replace(/^\{scope_base\}\//, "");
}

/** Returns the page for a faulty request that must not redirect the browser. */
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
