import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { tokensFile } from "@svc/console";

/** A text that may stand in a page as it is. */
export type Html = { readonly html: string };

/** A part of a page: what is put into it is escaped, unless it is a part itself; lists are put one after the other. */
export function html(texts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html {
  const parts = values.map((value) => {
    if (typeof value === "string") return escapeHtml(value);
    return "html" in value ? value.html : value.map((one) => one.html).join("\n");
  });
  return { html: String.raw({ raw: texts }, ...parts) };
}

/** A page: its status, what its tab is called, and what stands in it. */
export type HtmlPage = {
  readonly status: number;
  readonly title: string;
  readonly body: Html;
  /** Where its form may lead, beside this service, as a policy names it. */
  readonly formTarget?: string;
  /** Run in it, where scripts run. */
  readonly script?: string;
};

const style = `${readFileSync(tokensFile, "utf8")}\n${readFileSync(fileURLToPath(new URL("page.css", import.meta.url)), "utf8")}`;

/** Answers with a page that loads nothing, stands in no frame, is kept nowhere, and tells no other site that it was opened. */
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

/** Headers of everything that a person's browser is answered here. */
export const pageHeaders: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  // Not no-referrer: the form's request would come from the origin `null`.
  "referrer-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
};

/** Browsers hold the redirect that follows a form to the form's policy as well, so it names where that leads. */
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
