import type { IngestEndpoint } from "@svc/gen/triggers";

/**
 * Returns a shell command with which the user posts a sample event to an inbound path. The command signs the post as the app does, with a
 * secret from a shell variable. If the user runs the command twice, svc stores only one event. The command needs curl, and openssl for
 * signatures. Returns an empty text if the app's toolkit has no sample, or if a shell command cannot compute the signature.
 */
export function curlOf(endpoint: IngestEndpoint, serviceUrl: string): string {
  const { path, secretEnv, sample } = endpoint;
  const signing = signingOf(endpoint, serviceUrl);
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
    // During a rotation, the variable may contain several secrets separated by spaces. The command signs with the first one.
    `secret=\${${secretEnv || "SECRET"}:?is not set in this shell}; secret="\${secret%% *}"`,
    `body=${quoted(sample.bodyJson)}`,
    ...signing.lines,
    `curl -sS ${quoted(`${serviceUrl}${path}`)} \\`,
    ...options.map((option, n) => `  ${option}${n === options.length - 1 ? "" : " \\"}`),
  ];
  return lines.join("\n");
}

/** How the command signs a webhook post. `lines`: shell lines that compute the signature. `options`: options for curl. */
type Signing = { lines: readonly string[]; options: readonly string[] };

/** Parameters of the scheme by which an inbound path verifies posts (`IngestEndpoint.verifierJson`). */
type Verifier = {
  readonly header?: readonly string[];
  readonly split?: "comma" | "semicolon" | "space";
  readonly prefix?: string;
  readonly encoding?: string;
  readonly signed?: string;
  readonly secret?: { readonly encoding?: string; readonly prefix?: string };
  readonly timestamp?: string;
  readonly parameter?: string;
  readonly basic?: boolean;
};

/** Shell commands that print a digest, by the encoding of the digest. */
const writers: Readonly<Record<string, string>> = {
  hex: `-hex | sed 's/^.* //'`,
  base64: "-binary | openssl base64 -A",
  base64url: "-binary | openssl base64 -A | tr '+/' '-_' | tr -d '='",
};

/**
 * Returns how the posts to an inbound webhook path are signed. Undefined if a shell command cannot do it, for example because the time is
 * in the body.
 */
function signingOf(endpoint: IngestEndpoint, serviceUrl: string): Signing | undefined {
  const verifier: Verifier = JSON.parse(endpoint.verifierJson === "" ? "{}" : endpoint.verifierJson);
  const { header: [header = ""] = [], prefix = "", parameter, basic = false, encoding = "" } = verifier;
  if (basic) return { lines: [], options: ['-u "$secret"'] };
  if (parameter !== undefined) return { lines: [], options: [`--url-query ${quoted(`${parameter}=`)}"$secret"`] };
  if (verifier.signed === undefined) return { lines: [], options: [`-H ${quoted(`${header}: ${prefix}`)}"$secret"`] };
  const parts = signedParts(verifier, endpoint, serviceUrl);
  const writer = writers[encoding];
  if (parts === undefined || writer === undefined) return undefined;
  const { lines, option } = keyOf(verifier.secret ?? {});
  const separator = { comma: ",", semicolon: ";", space: " " }[verifier.split ?? "comma"];
  const named = parts.named.map((name) => `${quoted(`${name}=`)}"$at"${quoted(separator)}`).join("");
  return {
    lines: [
      ...(parts.words.includes('"$at"') ? ["at=$(date +%s)"] : []),
      ...lines,
      `signature=$(printf %s ${parts.words.join("")} | openssl dgst -sha256 ${option} ${writer})`,
    ],
    options: [
      ...parts.options,
      `-H ${quoted(`${header}: `)}${named}${prefix === "" ? "" : quoted(prefix)}"$signature"`,
    ],
  };
}

/** Returns shell lines that compute the signing key from the secret, and the option with which openssl gets this key. */
function keyOf({ encoding = "utf8", prefix = "" }: NonNullable<Verifier["secret"]>) {
  const rest = prefix === "" ? '"$secret"' : `"\${secret#${quoted(prefix)}}"`;
  if (encoding === "utf8" && prefix === "") return { lines: [], option: '-hmac "$secret"' };
  if (encoding === "utf8") return { lines: [`key=${rest}`], option: '-hmac "$key"' };
  const read =
    encoding === "hex" ? rest : `$(printf %s ${rest} | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`;
  return { lines: [`key=${read}`], option: '-mac HMAC -macopt "hexkey:$key"' };
}

/**
 * Returns parts of a sample shell command that posts a signed webhook: the text to sign, the headers that it needs, and the names of the
 * parts of the signature header. Undefined if a part cannot be written as a shell word.
 */
function signedParts({ signed = "", timestamp }: Verifier, { path, sample }: IngestEndpoint, serviceUrl: string) {
  const words: string[] = [];
  const options: string[] = [];
  const named: string[] = [];
  if (timestamp !== undefined && !signed.includes(timestamp)) return undefined;
  for (const piece of signed.split(/(\{\{[^{}]*\}\})/).filter((text) => text !== "")) {
    const source = /^\{\{\s*(\S*)\s*\}\}$/.exec(piece)?.[1];
    const [root = "", ...steps] = (source ?? "").split(".");
    const name = steps.join(".");
    const isTime = piece === timestamp;
    const given = sample?.headers[name];
    if (source === undefined) words.push(quoted(piece));
    else if (root === "body") words.push('"$body"');
    else if (root === "method") words.push("POST");
    else if (root === "url" && Object.keys(sample?.query ?? {}).length === 0)
      words.push(quoted(`${serviceUrl}${path}`));
    else if (root === "headers") {
      words.push(isTime ? '"$at"' : quoted(given ?? `sample-${name}`));
      if (isTime) options.push(`-H ${quoted(`${name}: `)}"$at"`);
      else if (given === undefined) options.push(`-H ${quoted(`${name}: sample-${name}`)}`);
    } else if (root === "signature" && isTime) {
      words.push('"$at"');
      named.push(name);
    } else return undefined;
  }
  return { words, options, named };
}

/** Returns a text quoted as one word of a shell command. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
