import type { IngestEndpoint } from "@svc/gen/triggers";

/**
 * A command for a shell that posts the sample of an inbound path, signed as its app would with the secret in the shell's variable: it makes
 * an event once. It needs curl, and for signatures openssl. Empty where there is no sample, or the scheme is one of a newer service.
 */
export function curlOf(endpoint: IngestEndpoint, serviceUrl: string): string {
  const { path, scheme, secretEnv, sample } = endpoint;
  const signing = signings[scheme]?.(endpoint);
  if (sample === undefined || signing === undefined) return "";
  const hasBody = sample.bodyJson !== "";
  const type = hasBody ? { "content-type": "application/json" } : {};
  const options = [
    ...Object.entries({ ...type, ...sample.headers }).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...Object.entries(sample.query).map(([name, value]) => `--url-query ${quoted(`${name}=${value}`)}`),
    ...signing.options,
    hasBody ? '--data-binary "$body"' : "-X POST",
  ];
  const lines = [
    // The variable may hold several while one is rotated: the first signs.
    `secret=\${${secretEnv}:?is not set in this shell}; secret="\${secret%% *}"`,
    `body=${quoted(sample.bodyJson)}`,
    ...signing.lines,
    `curl -sS ${quoted(`${serviceUrl}${path}`)} \\`,
    ...options.map((option, n) => `  ${option}${n === options.length - 1 ? "" : " \\"}`),
  ];
  return lines.join("\n");
}

/** How a post is signed: what is computed first, and what curl is given of it. */
type Signing = { lines: readonly string[]; options: readonly string[] };

const hex = `openssl dgst -sha256 -hmac "$secret" -hex | sed 's/^.* //'`;
const base64 = `openssl dgst -sha256 -hmac "$secret" -binary | openssl base64 -A`;

/** By `IngestEndpoint.scheme`. */
const signings: Record<string, (endpoint: IngestEndpoint) => Signing> = {
  hmac_sha256: ({ header, prefix, encoding }) => ({
    lines: [`signature=$(printf %s "$body" | ${encoding === "base64" ? base64 : hex})`],
    options: [`-H ${quoted(`${header}: ${prefix}`)}"$signature"`],
  }),
  slack_v0: () => ({
    lines: ["at=$(date +%s)", `signature=$(printf 'v0:%s:%s' "$at" "$body" | ${hex})`],
    options: ['-H "x-slack-request-timestamp: $at"', '-H "x-slack-signature: v0=$signature"'],
  }),
  token_query: ({ parameter }) => ({ lines: [], options: [`--url-query ${quoted(`${parameter}=`)}"$secret"`] }),
};

/** A text as one word of a shell, whatever it holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
