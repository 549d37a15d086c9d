/** The request of an attempt, as far as it is known. */
type SentRequest = { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };

/**
 * Returns a curl command that sends the same request as a delivery attempt. Signatures and credentials are replaced by `…`, because they are
 * secret.
 */
export function curlOf({ url, headers, body }: SentRequest): string {
  const parts = [
    `curl -X POST ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === "" ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return parts.join(" \\\n  ");
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
