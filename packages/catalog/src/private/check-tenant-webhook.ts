import { isObject, type Placeholder, parseTemplate, parseTemplateTree, placeholdersOfTree } from "@svc/core";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";

/** Maximum number of triggers (event types) of a private toolkit, the definition of an app that one project published. */
const triggersMax = 50;

/**
 * Maximums for a webhook in a private toolkit. `steps`: length of a placeholder's path. `index`: list index in a path. `whole`: number of
 * placeholders with the filter `json`, `csv` or `each`.
 */
const limits = {
  // These limits are lower than those of shared definitions. Every placeholder costs time, in part before the sender is verified.
  ignored: 20,
  fields: 50,
  values: 100,
  placeholders: 200,
  steps: 32,
  index: 99,
  whole: 5,
  answered: 20,
};

/**
 * Checks the rules that apply only to the webhook of a private toolkit (a toolkit that one project has published for itself). Records every
 * error.
 */
export function checkTenantWebhook(file: DefinitionFile, webhook: unknown): void {
  if (!isObject(webhook)) return;
  if (webhook.secretEnv !== undefined) {
    const cure = "remove it, and set the secret with PutWebhookSecret after publishing";
    file.fault(["webhook", "secretEnv"], "is in a private definition", cure);
  }
  const ignored: unknown[] = Array.isArray(webhook.ignore) ? webhook.ignore : [];
  if (ignored.length > limits.ignored)
    file.fault(["webhook", "ignore"], `has ${ignored.length} rules`, `write at most ${limits.ignored}`);
  ignored.forEach((rule, index) => {
    checkRule(file, ["webhook", "ignore", index], rule);
  });
  checkSigned(file, webhook);
  const handshakes: unknown[] = Array.isArray(webhook.handshakes) ? webhook.handshakes : [];
  handshakes.forEach((handshake, index) => {
    if (!isObject(handshake)) return;
    const path = ["webhook", "handshakes", index];
    checkRule(file, [...path, "when"], handshake.when);
    const count = (JSON.stringify(handshake.answer ?? "").match(/\{\{/g) ?? []).length;
    if (count > limits.answered)
      file.fault([...path, "answer"], `has ${count} placeholders`, `write at most ${limits.answered}`);
  });
}

/**
 * Checks two templates of a webhook. `signed` may contain the body once, and `timestamp` may contain one placeholder. svc fills in both
 * before it knows the sender, so they must not cost much time.
 */
function checkSigned(file: DefinitionFile, { signed, timestamp }: { readonly [key: string]: unknown }): void {
  const bodies = placesIn(signed).filter(({ root }) => root === "body" || root === "form");
  if (bodies.length > 1)
    file.fault(["webhook", "signed"], "has the body several times", "write {{body}} or {{form}} once");
  const times = placesIn(timestamp);
  if (times.length > 1) file.fault(["webhook", "timestamp"], "has several placeholders", "write one of them");
  checkPaths(file, ["webhook", "timestamp"], times);
}

/** Returns the placeholders of a text. Returns an empty list if the text has errors, because the check of templates reports these. */
function placesIn(text: unknown): readonly Placeholder[] {
  if (typeof text !== "string") return [];
  try {
    return parseTemplate(text).parts.filter((part) => typeof part !== "string");
  } catch {
    return [];
  }
}

function checkRule(file: DefinitionFile, path: FaultPath, rule: unknown): void {
  if (!isObject(rule)) return;
  const values = Object.values(rule).flatMap((fields) => (isObject(fields) ? Object.values(fields) : []));
  const count = values.reduce((sum: number, value) => sum + (Array.isArray(value) ? value.length : 1), 0);
  if (values.length > limits.fields || count > limits.values) {
    const cure = `compare at most ${limits.fields} fields with ${limits.values} values`;
    file.fault(path, `compares ${values.length} fields with ${count} values`, cure);
  }
}

/**
 * Checks the rules that apply only to a trigger of a private toolkit (a toolkit that one project has published for itself). `each`: path of
 * the list in a webhook's body, if each element of the list is a webhook post of its own.
 */
export function checkTenantTrigger(
  file: DefinitionFile,
  document: { readonly [key: string]: unknown },
  each: unknown,
): void {
  if (document.account !== undefined) {
    const cure = "write entity: the id of the entity that the event concerns";
    file.fault(["account"], "is in a private definition, whose events all belong to its project", cure);
  }
  checkRule(file, ["match"], document.match);
  const { entity, dedupe, occurredAt, payload } = document;
  const places = placeholdersOfTree(parseTemplateTree({ entity, dedupe, occurredAt, payload }, () => {})).map(
    ([place]) => place,
  );
  if (places.length > limits.placeholders)
    file.fault(["payload"], `has ${places.length} placeholders`, `write at most ${limits.placeholders}`);
  const whole = places.filter(({ filters }) => filters.some(({ name }) => ["json", "csv", "each"].includes(name)));
  if (whole.length > limits.whole)
    file.fault(["payload"], `has ${whole.length} filters json, csv and each`, `write at most ${limits.whole}`);
  if (each !== undefined && whole.some(({ root }) => root === "body")) {
    const cure = "read a field of {{item}}, or remove the filter";
    file.fault(["payload"], "writes a part of the body as text for each element of webhook.each", cure);
  }
  checkPaths(file, ["payload"], places);
}

function checkPaths(file: DefinitionFile, path: FaultPath, places: readonly Placeholder[]): void {
  for (const { text, path: steps } of places) {
    if (steps.length > limits.steps)
      file.fault(path, `{{${text.slice(0, 60)}}} has ${steps.length} steps`, `write at most ${limits.steps}`);
    if (steps.some((step) => typeof step === "number" && step > limits.index))
      file.fault(path, `{{${text.slice(0, 60)}}} reads beyond place ${limits.index} of a list`, "use webhook.each");
  }
}

/** Records an error if a private toolkit (one that a project published for itself) has more than `triggersMax` triggers. */
export function checkTriggerCount(toolkit: DefinitionFile, tools: Iterable<DefinitionFile>): void {
  const triggers = [...tools].filter(({ value }) => isObject(value) && value.kind === "trigger").length;
  if (triggers > triggersMax)
    toolkit.fault([], `has ${triggers} triggers`, `split it: a private toolkit has at most ${triggersMax}`);
}
