import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { tokensFile } from "@svc/console";

/** HTML text that is safe to insert into a page. */
export type Html = { readonly html: string };

/**
 * Tag for template literals that contain HTML. Values that are texts are escaped. Values of type Html are inserted unchanged. The items of
 * a list are joined by line breaks.
 */
export function html(texts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const parts = values.map((value) => {
    if (typeof value === "string") return escapeHtml(value);
    return "html" in value ? value.html : value.map((one) => one.html).join("\n");
  });
  return { html: String.raw({ raw: texts }, ...parts) };
}

/** A page for a person's browser. */
export type HtmlPage = {
  readonly status: number;
  readonly title: string;
  readonly body: Html;
  /**
   * Additional address to which the page's form may lead, as a source of the content security policy. Forms may always lead to the service
   * itself.
   */
  readonly formTarget?: string;
  /** Script of the page. Without scripts, the page works too. */
  readonly script?: string;
};

const style = `${readFileSync(tokensFile, "utf8")}\n${readFileSync(fileURLToPath(new URL("page.css", import.meta.url)), "utf8")}`;

/** Answers with a page. The page loads nothing, cannot be framed, is not cached, and sends no referrer to other sites. */
export function answerPage(res: ServerResponse, { status, title, body, formTarget = "", script }: HtmlPage): void {
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)} · svc</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div class="screen">
<header class="brand">svc</header>
<main>
<h1>${escapeHtml(title)}</h1>
${body.html}
</main>
</div>
${script === undefined ? "" : `<script>${script}</script>`}
</body>
</html>
`;
  res.writeHead(status, {
    ...pageHeaders,
    "content-type": "text/html; charset=utf-8",
    "content-length": Buffer.byteLength(text),
    "content-security-policy": policyOf(formTarget, script),
  });
  res.end(text);
}

/** Headers of every answer to a person's browser. */
export const pageHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  // With `no-referrer`, the browser would send the form with the origin `null`.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/**
 * Returns the content security policy. Browsers apply `form-action` also to the redirect after a form, so the policy must name the target
 * of this redirect.
 */
function policyOf(formTarget: string, script: string | undefined): string {
  return [
    "default-src 'none'",
    `style-src '${digestOf(style)}'`,
    ...(script === undefined ? [] : [`script-src '${digestOf(script)}'`]),
    "img-src data:",
    "base-uri 'none'",
    `form-action 'self'${formTarget === "" ? "" : ` ${formTarget}`}`,
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

function digestOf(text: string): string {
  return `sha256-${hash("sha256", text, "base64")}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
