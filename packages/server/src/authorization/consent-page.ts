import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type AgentToolGroup, type Fault, isPrintableText } from "@svc/core";
import { isLoopback, originOfRedirect } from "./clients.ts";
import { answerUrl, type ConsentRequest, type RefusedRequest } from "./consent-request.ts";
import { type Html, type HtmlPage, html } from "./html.ts";
import type { AccessScope, Offer } from "./scopes.ts";

const script = readFileSync(fileURLToPath(new URL("session-script.js", import.meta.url)), "utf8");
const nothing = html``;

/**
 * Returns the page on which the person proves who he or she is. `sealed`: the client's request, encrypted. `refusal`: the error of the
 * previous attempt.
 */
export function identityPage(
  request: ConsentRequest,
  sealed: string,
  refusal?: { fault: Fault; status: number },
): HtmlPage {
  return {
    status: refusal?.status ?? 200,
    title: `Let ${nameOf(request)} in?`,
    formTarget: formTargetOf(request.redirectUri),
    script,
    body: html`${whoAsks(request)}
${refusal === undefined ? nothing : faultNotice(refusal.fault)}
<p>The program has no access yet. Sign in first; the next page asks what it may do.</p>
<form method="post" action="authorize" id="signed-in" hidden>
<input type="hidden" name="asked" value="${sealed}">
<input type="hidden" name="half" value="">
<div class="field"><label class="label" for="seat">Signed in to the console as</label><select id="seat" name="seat"></select></div>
<div class="buttons"><button type="submit" class="primary" name="decision" value="next">Continue as this key</button></div>
</form>
<form method="post" action="authorize">
<input type="hidden" name="asked" value="${sealed}">
<div class="field"><label class="label" for="key">API key of the project</label>
<input type="password" id="key" name="key" required autocomplete="off" spellcheck="false" aria-describedby="key-hint">
<span class="hint" id="key-hint">The key stays here: the program gets its own tokens, which end with this key or when you revoke them.</span></div>
<div class="buttons"><button type="submit" class="primary" name="decision" value="next">Continue</button>
<button type="submit" name="decision" value="deny" formnovalidate>Deny</button></div>
</form>`,
  };
}

/** Contents of the OAuth consent page on which a person decides what access a client gets. The client's request is not included. */
export type DecisionDetails = {
  readonly projectName: string;
  readonly keyName: string;
  readonly offer: Offer;
  /**
   * The form with the person's previous choice, which svc did not accept. Undefined when the page is shown for the first time. The page
   * then preselects the access that the client asks for.
   */
  readonly form?: URLSearchParams | undefined;
  /** Reason why the previous choice was not accepted. */
  readonly fault?: string;
};

/** Returns the page on which the person decides what the client may do. */
export function decisionPage(request: ConsentRequest, sealed: string, details: DecisionDetails): HtmlPage {
  const { projectName, keyName, offer, form, fault } = details;
  const chosen = form === undefined ? request.scopes : form.getAll("access");
  return {
    status: fault === undefined ? 200 : 400,
    title: `What may ${nameOf(request)} do?`,
    formTarget: formTargetOf(request.redirectUri),
    body: html`${whoAsks(request)}
${fault === undefined ? nothing : html`<div class="notice bad" role="alert"><strong>${fault}</strong></div>`}
<dl><dt>Project</dt><dd>${projectName}</dd><dt>By the key</dt><dd>${keyName}</dd></dl>
<form method="post" action="authorize">
<input type="hidden" name="vouched" value="${sealed}">
${entityField(offer, form)}
<fieldset><legend>It may</legend>
${offer.accessClasses.map((one) => checkBox("access", one, accessWords[one], chosen.includes(one)))}
</fieldset>
${agentToolFields(offer, form?.getAll("agent-tools") ?? [])}
${toolkitFields(offer, request.toolkitSlugs, form)}
<div class="buttons"><button type="submit" class="primary" name="decision" value="allow">Allow</button>
<button type="submit" name="decision" value="deny" formnovalidate>Deny</button></div>
</form>`,
  };
}

const accessWords: Readonly<Record<AccessScope, string>> = {
  read: "Read: look at what is in the apps",
  write: "Write: create and change things",
  destructive: "Destroy: delete, or make changes that cannot be undone",
};

function checkBox(name: string, value: string, words: string, isChecked: boolean): Html {
  const checked = isChecked ? html` checked` : nothing;
  return html`<label class="check"><input type="checkbox" name="${name}" value="${value}"${checked}> <span>${words}</span></label>`;
}

function entityField({ entityId, entities }: Offer, form: URLSearchParams | undefined): Html {
  if (entityId !== "") return html`<p>It acts as the entity <code>${entityId}</code>, to which the key is bound.</p>`;
  return html`<div class="field"><label class="label" for="entity">It acts as the entity</label>
<input type="text" id="entity" name="entity" list="entities" autocomplete="off" spellcheck="false" value="${form?.get("entity") ?? ""}" aria-describedby="entity-hint">
<datalist id="entities">${entities.map((one) => html`<option value="${one}"></option>`)}</datalist>
<span class="hint" id="entity-hint">It uses the connected accounts of this entity, and of no other.</span></div>
${checkBox("any-entity", "yes", "Any entity of the project; each call names it", form !== undefined && form.get("any-entity") !== null)}`;
}

function toolkitFields(
  { toolkits, isAnyToolkit }: Offer,
  asked: readonly string[],
  form: URLSearchParams | undefined,
): Html {
  const chosen = form?.getAll("toolkit") ?? asked;
  const boxes = toolkits.map(({ slug, name }) => checkBox("toolkit", slug, name, chosen.includes(slug)));
  const all = isAnyToolkit ? "all toolkits, also those that are added later" : "all toolkits of the key";
  if (asked.length === 0)
    return html`<details${chosen.length > 0 ? html` open` : nothing}><summary>With ${all}; choose some</summary>
<fieldset class="many"><legend class="hint">With none chosen, all may be used.</legend>
${boxes}
</fieldset></details>`;
  const missing = asked.filter((slug) => !toolkits.some((one) => one.slug === slug));
  const whose = isAnyToolkit ? "the project does not have" : "this key may not give";
  const isEvery = form !== undefined && form.get("any-toolkit") !== null;
  return html`<fieldset class="many"><legend>With these toolkits</legend>
${missing.length === 0 ? nothing : html`<p class="hint">It also asks for ${missing.join(", ")}, which ${whose}.</p>`}
${boxes}
${checkBox("any-toolkit", "yes", `${all.slice(0, 1).toUpperCase()}${all.slice(1)}`, isEvery)}
</fieldset>`;
}

const agentToolWords: Readonly<Record<AgentToolGroup, string>> = {
  programs: "Run programs: many calls at once, which continue by themselves",
  connect: "Make links that connect accounts",
  operate: "See the state of all events and deliveries of the project",
  repair: "Send deliveries again, and release posts from quarantine",
};

function agentToolFields({ agentTools }: Offer, chosen: readonly string[]): Html {
  if (agentTools.length === 0) return nothing;
  return html`<fieldset><legend>In addition to tools of apps, it may</legend>
${agentTools.map((one) => checkBox("agent-tools", one, agentToolWords[one], chosen.includes(one)))}
</fieldset>`;
}

/** Returns the page for an error that ends the client's request. */
export function errorPage(status: number, message: string, help = ""): HtmlPage {
  return {
    status,
    title: "This page cannot be opened",
    body: html`<p role="alert">${message}</p>${help === "" ? nothing : html`<p>${help}</p>`}`,
  };
}

/**
 * Returns the error page for an authorization request that svc cannot grant. The page has a link back to the client and does not redirect.
 * A redirect would be unsafe, because anyone can register a client with any redirect address.
 */
export function refusalPage(request: RefusedRequest): HtmlPage {
  const { refusal, redirectUri } = request;
  const back = answerUrl(request, { error: refusal.error, error_description: refusal.message });
  return {
    status: 400,
    title: `${nameOf(request)} sent a wrong request`,
    body: html`<p role="alert">The request cannot be granted: ${refusal.message}.</p>
<p><a href="${back}" rel="noreferrer">Go back to ${originOfRedirect(redirectUri)}</a></p>`,
  };
}

function whoAsks(request: ConsentRequest): Html {
  const { clientHost, redirectUri } = request;
  const origin = originOfRedirect(redirectUri);
  const known =
    clientHost === undefined
      ? html`<div class="notice"><strong>Its name is not checked.</strong> Continue only if you have just added this address to a program yourself.</div>`
      : nothing;
  const place = isLoopback(new URL(redirectUri))
    ? html`a program on this machine, at <code>${origin}</code>`
    : html`<code>${origin}</code>`;
  return html`<p>${nameOf(request)}${clientHost === undefined ? "" : ` of ${clientHost}`} wants to use the tools of this service. The answer goes to ${place}.</p>
${known}`;
}

function faultNotice({ message, details: [detail] }: Fault): Html {
  const text = message.slice(0, 1).toUpperCase() + message.slice(1);
  return html`<div class="notice bad" role="alert"><strong>${text}.</strong> ${detail?.help ?? ""}</div>`;
}

/**
 * Returns the source for `form-action` in the content security policy. For a host that is an IPv6 address, returns only the scheme, because
 * the policy has no syntax for such hosts.
 */
function formTargetOf(redirectUri: string): string {
  const { protocol, hostname, origin } = new URL(redirectUri);
  return /^https?:$/.test(protocol) && !hostname.startsWith("[") ? origin : protocol;
}

/** Returns the client's name as the page shows it. */
function nameOf({ clientName }: Pick<ConsentRequest, "clientName">): string {
  return isPrintableText(clientName, 100) && clientName.trim() !== "" ? clientName : "A program without a name";
}
