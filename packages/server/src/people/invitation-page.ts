import { readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { fileURLToPath } from "node:url";
import { answerPage, html } from "../authorization/html.ts";

const script = readFileSync(fileURLToPath(new URL("invitation-script.js", import.meta.url)), "utf8");

/**
 * Answers with the page that an invitation opens. Nothing happens before the person presses the button, because programs that check mail
 * also open links. `providerOrigin`: address of the company's identity provider, to which the form leads. `start`: path that receives the
 * form.
 */
export function answerInvitation(
  res: ServerResponse,
  { start, providerOrigin }: { readonly start: string; readonly providerOrigin: string },
): void {
  answerPage(res, {
    ...{ status: 200, title: "You are invited", formTarget: providerOrigin, script },
    body: html`<form method="post" action="${start}" hidden>
<p>This invitation gives you access to a project. It works once. Continue with the company account that you want to use.</p>
<input type="hidden" name="invitation">
<button>Sign in with your company account</button>
</form>
<p id="missing">Open the link that you received again. The secret in the link is removed from the address when the page opens.</p>`,
  });
}
