import { hmacSha256, type Placeholder, parseTemplate } from "@svc/core";
import { compileMatch } from "../build/match.ts";
import type { HandshakeAnswer, HandshakeRequest, Webhook, WebhookSecret } from "../model.ts";
import type { HandshakeDocument, WebhookDocument } from "../read/documents.ts";
import { nameOfPlaceholder, onlyValue } from "./placeholders.ts";
import { isToken } from "./verifier.ts";

/** The handshake of the scheme `slack_v0`: the app checks a new address with a signed webhook post. */
const slackHandshake: HandshakeDocument = {
  method: "POST",
  when: { body: { type: "url_verification" } },
  answer: { json: { challenge: "{{body.challenge}}" } },
};

/** Maximum size of a text that svc answers to a handshake, in bytes. */
const textBytesMax = 1_024;

/**
 * Returns the functions and settings with which a webhook answers handshakes (requests by which an app tests a new webhook): the allowed
 * HTTP methods, if a handshake may be unsigned, and the function that makes the answer.
 */
export function compileHandshakes(
  document: WebhookDocument,
): Pick<Webhook, "methods" | "hasUnsignedHandshakes" | "handshake"> {
  const declared = [...(document.handshakes ?? []), ...(document.scheme === "slack_v0" ? [slackHandshake] : [])];
  const handshakes = declared.map(compileHandshake);
  return {
    methods: [...new Set(["POST", ...declared.map(({ method }) => method)])],
    hasUnsignedHandshakes: declared.some(({ unsigned }) => unsigned === true),
    handshake(request, secrets, isVerified) {
      let refused: "refused" | undefined;
      for (const answerTo of handshakes) {
        const answer = answerTo(request, secrets, isVerified);
        if (answer !== undefined && answer !== "refused") return answer;
        refused ??= answer;
      }
      return refused;
    },
  };
}

function compileHandshake(document: HandshakeDocument): Webhook["handshake"] {
  const { method, when = {}, token, unsigned = false, answer } = document;
  const matches = compileMatch(when);
  const { status = 200 } = answer;
  const bodyOf = compileAnswer(answer);
  return (request, secrets, isVerified) => {
    if (request.method !== method || (method === "POST" && !unsigned && !isVerified) || !matches(request))
      return undefined;
    if (token !== undefined && !isToken(onlyValue(request.query, token), secrets)) return "refused";
    const body = bodyOf(request, secrets);
    return body && { status, ...body };
  };
}

type Answered = Omit<HandshakeAnswer, "status"> | undefined;

/** Returns a function that returns the body of an answer. Its result is undefined if the request lacks a value that the answer repeats. */
function compileAnswer({
  text,
  json,
}: HandshakeDocument["answer"]): (request: HandshakeRequest, secrets: readonly WebhookSecret[]) => Answered {
  if (json !== undefined) {
    const render = compileTree(json);
    return (request, secrets) => {
      const value = render(request, secrets);
      return value === undefined ? undefined : { contentType: "application/json", body: JSON.stringify(value) };
    };
  }
  if (text === undefined) return () => ({ contentType: "", body: "" });
  const render = compileText(text);
  return (request, secrets) => {
    const body = render(request, secrets);
    // Accepts only printable ASCII. Otherwise a sender could make svc repeat a text that a browser reads in another charset.
    if (body === undefined || body.length > textBytesMax || !/^[\x20-\x7e]*$/.test(body)) return undefined;
    return { contentType: "text/plain; charset=utf-8", body };
  };
}

type Render<T> = (request: HandshakeRequest, secrets: readonly WebhookSecret[]) => T | undefined;

function compileTree(value: unknown): Render<unknown> {
  if (typeof value === "string") return compileText(value);
  if (typeof value !== "object" || value === null) return () => value;
  const entries = Object.entries(value).map(([key, item]) => [key, compileTree(item)] as const);
  const isList = Array.isArray(value);
  return (request, secrets) => {
    const rendered = entries.map(([key, render]) => [key, render(request, secrets)] as const);
    if (rendered.some(([, item]) => item === undefined)) return undefined;
    return isList ? rendered.map(([, item]) => item) : Object.fromEntries(rendered);
  };
}

/**
 * A part of the text with which svc answers a handshake (a request by which an app tests a new webhook): literal text, or a placeholder.
 * `isSigned`: true if the answer contains svc's HMAC of the placeholder's value instead of the value.
 */
export type AnswerPart = string | { readonly placeholder: Placeholder; readonly isSigned: boolean };

const hmacFilter = /\s*\|\s*hmac\s*$/;

/**
 * Splits the template of a handshake's answer into texts and placeholders. An app sends a handshake to test a new webhook. Throws
 * TemplateSyntaxError.
 */
export function partsOfAnswer(text: string): readonly AnswerPart[] {
  const signed = new Set<string>();
  const plain = text.replaceAll(/\{\{([^{}]*)\}\}/g, (whole, source: string) => {
    if (!hmacFilter.test(source)) return whole;
    const path = source.replace(hmacFilter, "").trim();
    signed.add(path);
    return `{{hmac.${path}}}`;
  });
  return parseTemplate(plain).parts.map((part) => {
    if (typeof part === "string") return part;
    const inner = part.root === "hmac" && signed.has(part.text.slice("hmac.".length));
    if (!inner) return { placeholder: part, isSigned: false };
    const [root = "", ...path] = part.path;
    return {
      placeholder: { ...part, text: part.text.slice("hmac.".length), root: String(root), path },
      isSigned: true,
    };
  });
}

function compileText(text: string): Render<string> {
  const parts = partsOfAnswer(text);
  return (request, secrets) => {
    let rendered = "";
    for (const part of parts) {
      if (typeof part === "string") rendered += part;
      else {
        const value = textAt(part.placeholder, request);
        const given = value === undefined || !part.isSigned ? value : hmacOf(value, secrets);
        if (given === undefined) return undefined;
        rendered += given;
      }
    }
    return rendered;
  };
}

/** Returns the text that a placeholder reads from a handshake request. Undefined if the value is absent or not a text. */
function textAt(placeholder: Placeholder, { headers, query, body }: HandshakeRequest): string | undefined {
  const name = nameOfPlaceholder(placeholder);
  if (placeholder.root === "query") return onlyValue(query, name);
  if (placeholder.root === "headers") return Object.hasOwn(headers, name) ? headers[name] : undefined;
  let value = body;
  for (const step of placeholder.path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string | number, unknown>)[step];
  }
  return typeof value === "string" ? value : undefined;
}

function hmacOf(text: string, [first]: readonly WebhookSecret[]): string | undefined {
  return first && hmacSha256(first.key, [Buffer.from(text)], "hex");
}
