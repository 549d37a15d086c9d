/** An HTTP answer, in a form that does not depend on the HTTP server. */
export type OauthAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * Headers of every OAuth page. With them, the browser runs no scripts, loads no other files, shows the page in no frame, and does not send
 * the page's address to other sites.
 */
const commonHeaders = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

/** Returns an HTTP answer with a simple page. `title` and `text` are escaped. */
export function page(status: number, title: string, text: string, headers: Record<string, string> = {}): OauthAnswer {
  const body = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title></head>
<body><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></body>
</html>
`;
  return {
    status,
    headers: {
      ...commonHeaders,
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      ...headers,
    },
    body,
  };
}

/** Returns an HTTP answer that sends the browser to the address `location`. */
export function redirect(location: string, headers: Record<string, string> = {}): OauthAnswer {
  return { status: 302, headers: { ...commonHeaders, location, ...headers }, body: "" };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
