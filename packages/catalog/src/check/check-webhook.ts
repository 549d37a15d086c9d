import { type Placeholder, parseDuration, parseTemplate, TemplateSyntaxError } from "@svc/core";
import { matchesEverything } from "../build/match.ts";
import type { DefinitionFile, FaultPath } from "../read/definition-file.ts";
import type {
  BodyDocument,
  HandshakeDocument,
  HmacDocument,
  MatchDocument,
  TokenDocument,
  WebhookDocument,
} from "../read/documents.ts";
import { partsOfAnswer } from "../webhook/handshake.ts";
import { nameOfPlaceholder } from "../webhook/placeholders.ts";
import { isSamePlace } from "../webhook/sign.ts";

/** Checks the rules for an app's webhook that the JSON Schema of the definition cannot express. Records every error. */
export function checkWebhook(file: DefinitionFile, webhook: WebhookDocument): void {
  (webhook.ignore ?? []).forEach((rule, index) => {
    if (matchesEverything(rule)) {
      file.fault(["webhook", "ignore", index], "matches every post", "name a header, query parameter or body field");
    }
    checkMatch(file, ["webhook", "ignore", index], rule, webhook);
  });
  checkBodies(file, webhook);
  if (webhook.scheme === "hmac_sha256") checkHmac(file, webhook);
  if (webhook.scheme === "token_query") checkToken(file, webhook);
  (webhook.handshakes ?? []).forEach((handshake, index) => {
    checkHandshake(file, ["webhook", "handshakes", index], handshake, webhook);
  });
}

/** Checks the part of a toolkit's definition that says how the bodies of webhook posts are read. */
function checkBodies(file: DefinitionFile, { form, each, content }: BodyDocument): void {
  if (content !== undefined && (form ?? each) !== undefined) {
    const cure = `remove content, or remove ${form === undefined ? "each" : "form"}`;
    file.fault(["webhook", "content"], `is ${content}, so there is no JSON and no form in the body`, cure);
  } else if (form === "*" && each !== undefined) {
    const cure = "name the field that has the JSON in form, or remove each";
    file.fault(["webhook", "each"], "finds no list: form is *, and the fields of a form are texts", cure);
  }
}

/** Checks that a match rule (conditions by which svc recognizes webhook posts) names only parts that the app's webhook posts have. */
export function checkMatch(
  file: DefinitionFile,
  path: FaultPath,
  match: MatchDocument,
  { each, content }: BodyDocument = {},
): void {
  if (match.body !== undefined && content !== undefined) {
    const cure = "name a header or a query parameter";
    file.fault([...path, "body"], `names fields, and webhook.content is ${content}`, cure);
  }
  if (match.item !== undefined && each === undefined) {
    file.fault([...path, "item"], "names fields of an element, and webhook.each is missing", "add each, or write body");
  }
}

/** Names of the headers and parameters of a webhook that contain its secret. Header names are in lower case. */
export function secretPlaces(webhook: WebhookDocument | undefined): readonly { root: string; name: string }[] {
  if (webhook?.scheme !== "token_query") return [];
  const headers = webhook.basic === true ? ["authorization"] : [webhook.header ?? []].flat();
  return [
    ...(webhook.parameter === undefined ? [] : [{ root: "query", name: webhook.parameter }]),
    ...headers.map((name) => ({ root: "headers", name: name.toLowerCase() })),
  ];
}

/**
 * First words of the placeholders in a webhook's templates. `whole`: the word stands alone, as in `{{body}}`. `named`: a name follows, as
 * in `{{headers.x-time}}`.
 */
const signedRoots = { body: "whole", form: "whole", url: "whole", method: "whole" } as const;
const namedRoots = { headers: "named", query: "named", signature: "named" } as const;
const timeRoots = { ...namedRoots, body: "named" } as const;

function checkHmac(file: DefinitionFile, webhook: HmacDocument): void {
  const { signed = "{{body}}", timestamp, tolerance } = webhook;
  const signedPlaces = checkPlaces(file, ["webhook", "signed"], signed, { ...signedRoots, ...namedRoots });
  const timePlaces = checkPlaces(file, ["webhook", "timestamp"], timestamp ?? "", timeRoots);
  if (!signedPlaces.some(({ root }) => root === "body" || root === "form")) {
    file.fault(["webhook", "signed"], "signs no body", "add {{body}}, or {{form}} for posts that are forms");
  }
  for (const [key, places] of [["signed", signedPlaces] as const, ["timestamp", timePlaces] as const]) {
    for (const place of places) checkSource(file, ["webhook", key], place, webhook);
  }
  checkTime(file, webhook, { signedPlaces, timePlaces });
  if (tolerance === undefined) return;
  const toleranceMs = parseDuration(tolerance);
  if (toleranceMs < 30_000 || toleranceMs > 3_600_000) {
    file.fault(["webhook", "tolerance"], `is ${tolerance}`, "write a time from 30s to 1h");
  }
}

function checkTime(
  file: DefinitionFile,
  { timestamp, tolerance }: HmacDocument,
  {
    signedPlaces,
    timePlaces,
  }: { readonly signedPlaces: readonly Placeholder[]; readonly timePlaces: readonly Placeholder[] },
): void {
  if (timestamp === undefined) {
    if (tolerance !== undefined)
      file.fault(["webhook", "tolerance"], "has no time to compare", "add timestamp, or remove tolerance");
    return;
  }
  if (timePlaces.length === 0) {
    file.fault(["webhook", "timestamp"], "reads nothing of the post", "write a placeholder such as {{signature.t}}");
  }
  const covers = (root: string) => signedPlaces.some((place) => place.root === root);
  for (const place of timePlaces) {
    const isSigned =
      signedPlaces.some((other) => isSamePlace(place, other)) ||
      (place.root === "body" && covers("body")) ||
      (place.root === "query" && covers("url"));
    if (isSigned) continue;
    const reason = `{{${place.text}}} is not part of signed, and anyone can change a time that is not signed`;
    file.fault(["webhook", "timestamp"], reason, `add {{${place.text}}} to signed, as the app signs it`);
  }
}

/**
 * Checks a placeholder of a webhook's definition. Records an error if the placeholder reads the signature itself. It may read another part
 * of the signature header only if `split` says how the app separates the parts.
 */
function checkSource(file: DefinitionFile, path: FaultPath, place: Placeholder, webhook: HmacDocument): void {
  const { split, prefix = "" } = webhook;
  const name = nameOfPlaceholder(place);
  if (place.root === "headers" && [webhook.header].flat().some((header) => header.toLowerCase() === name)) {
    file.fault(path, `{{${place.text}}} is the header of the signature itself`, "name another header");
  }
  if (place.root !== "signature") return;
  if (split === undefined) {
    const reason = `{{${place.text}}} is a part of the signature header, and the header has no parts`;
    file.fault(path, reason, "add split: comma, semicolon or space, as the app separates them");
  } else if (`${name}=`.startsWith(prefix)) {
    const reason = `{{${place.text}}} is read as a signature, because its part begins with the prefix "${prefix}"`;
    file.fault(path, reason, "write the prefix of the signatures, such as v1=");
  }
}

type Roots = Readonly<Record<string, "whole" | "named">>;

/**
 * Returns the placeholders of a webhook's template, such as `{{headers.x-id}}`. Records an error for each one that is not allowed. `roots`:
 * the allowed first words, such as `headers`.
 */
function checkPlaces(file: DefinitionFile, path: FaultPath, text: string, roots: Roots): readonly Placeholder[] {
  try {
    const places = parseTemplate(text).parts.filter((part) => typeof part !== "string");
    for (const place of places) checkPlace(file, path, place, roots);
    return places;
  } catch (error) {
    if (!(error instanceof TemplateSyntaxError)) throw error;
    file.fault(path, error.message, "write {{body}} or {{headers.name}}, or {{{{ for two literal braces");
    return [];
  }
}

function checkPlace(file: DefinitionFile, path: FaultPath, place: Placeholder, roots: Roots): void {
  const { root, text, filters } = place;
  const kind = Object.hasOwn(roots, root) ? roots[root] : undefined;
  if (kind === undefined) {
    const known = Object.entries(roots).map(([name, how]) => (how === "whole" ? `{{${name}}}` : `{{${name}.*}}`));
    file.fault(path, `{{${text}}} cannot be used here`, `use ${known.join(", ")}`);
    return;
  }
  const name = nameOfPlaceholder(place);
  if (filters.length > 0) file.fault(path, `{{${text}}} has a filter`, "remove it: the value is used unchanged");
  if (kind === "whole" && name !== "") file.fault(path, `{{${text}}} names a part of it`, `write {{${root}}}`);
  if (kind === "named" && name === "") file.fault(path, `{{${text}}} names nothing`, `write {{${root}.name}}`);
  if (root === "headers" && name !== name.toLowerCase()) {
    file.fault(path, `{{${text}}} has capitals, and header names are compared in lower case`, "write it in lower case");
  }
}

function checkToken(file: DefinitionFile, { parameter, header, basic, prefix }: TokenDocument): void {
  const given = Object.entries({ parameter, header, basic }).flatMap(([key, value]) =>
    value === undefined ? [] : [key],
  );
  if (given.length !== 1) {
    const reason = given.length === 0 ? "does not say where the secret is" : `has ${given.join(" and ")}`;
    file.fault(["webhook"], reason, "write exactly one of parameter, header and basic");
  }
  if (prefix !== undefined && header === undefined) {
    file.fault(["webhook", "prefix"], "has no header", "add header, such as authorization, or remove prefix");
  }
}

function checkHandshake(
  file: DefinitionFile,
  path: FaultPath,
  handshake: HandshakeDocument,
  webhook: WebhookDocument,
): void {
  const { method, when = {}, token, unsigned = false, answer } = handshake;
  const isPost = method === "POST";
  checkMatch(
    file,
    [...path, "when"],
    when,
    isPost && webhook.content !== undefined ? { content: webhook.content } : {},
  );
  if (isPost && token !== undefined) {
    file.fault([...path, "token"], "is for GET and HEAD", "remove it: svc verifies a POST as every other post");
  }
  if (!isPost && unsigned) {
    file.fault([...path, "unsigned"], `is for POST, and this is ${method}`, "remove it, or add token");
  }
  if (!isPost && Object.keys(when.body ?? {}).length > 0) {
    file.fault([...path, "when", "body"], `is never true, because a ${method} has no body`, "name a query parameter");
  }
  if (answer.text !== undefined && answer.json !== undefined) {
    file.fault([...path, "answer"], "has text and json", "write one of them");
  }
  const isProven = isPost ? !unsigned : token !== undefined;
  if (!isProven && answer.json !== undefined) {
    const cure = isPost ? "write text, or remove unsigned" : "write text, or add token";
    file.fault([...path, "answer", "json"], "would answer anyone, because nothing proves the sender", cure);
  }
  const places = checkAnswer(file, [...path, "answer"], handshake, webhook, isProven);
  if (isPost && matchesEverything(when) && places === 0) {
    const reason = "matches every post, so none would become an event";
    file.fault([...path, "when"], reason, "name a header, query parameter or body field");
  }
}

/**
 * Checks the texts in svc's answer to a handshake (the request with which an app verifies the webhook address). Returns the number of
 * placeholders in these texts.
 */
function checkAnswer(
  file: DefinitionFile,
  path: FaultPath,
  { method, token, answer }: HandshakeDocument,
  webhook: WebhookDocument,
  isProven: boolean,
): number {
  const secret = [...secretPlaces(webhook), ...(token === undefined ? [] : [{ root: "query", name: token }])];
  const roots: Roots = { query: "named", headers: "named", ...(method === "POST" ? { body: "named" } : {}) };
  let count = 0;
  for (const [text, at] of textsOf(answer.text ?? answer.json, [
    ...path,
    answer.text === undefined ? "json" : "text",
  ])) {
    try {
      for (const part of partsOfAnswer(text)) {
        if (typeof part === "string") continue;
        count++;
        checkPlace(file, at, part.placeholder, roots);
        const name = nameOfPlaceholder(part.placeholder);
        if (secret.some((place) => place.root === part.placeholder.root && place.name === name)) {
          file.fault(
            at,
            `{{${part.placeholder.text}}} is the webhook's secret`,
            "take another value: svc never repeats it",
          );
        }
        const isCovered = method !== "POST" || webhook.scheme === "token_query" || part.placeholder.root === "body";
        if (part.isSigned && isProven && !isCovered) {
          const reason = `{{${part.placeholder.text} | hmac}} may be no part of what the sender signed, and would then sign any text`;
          file.fault(at, reason, "read the value from the body");
        }
        if (part.isSigned && !isProven) {
          const cure = method === "POST" ? "remove unsigned" : "add token";
          file.fault(at, `{{${part.placeholder.text} | hmac}} would sign any text for anyone`, cure);
        }
      }
    } catch (error) {
      if (!(error instanceof TemplateSyntaxError)) throw error;
      file.fault(at, error.message, "write {{query.name}}, or {{body.name | hmac}} for its HMAC");
    }
  }
  return count;
}

/** Returns every text in a JSON value, each with its path in the definition file. */
function textsOf(value: unknown, path: FaultPath): [string, FaultPath][] {
  if (typeof value === "string") return [[value, path]];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    textsOf(item, [...path, Array.isArray(value) ? Number(key) : key]),
  );
}
