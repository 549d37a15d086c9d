import { formatValue } from "@svc/core";
import type { EmbeddingsTarget } from "@svc/node";
import type { ConfigReader } from "./reader.ts";

/** Returns the configured embeddings endpoint; undefined if there is none. */
export function readEmbeddings(reader: ConfigReader): EmbeddingsTarget | undefined {
  const url = reader.parsed("SVC_EMBEDDINGS_URL", parseUrl);
  const model = reader.text("SVC_EMBEDDINGS_MODEL");
  const isNamed = reader.text("SVC_EMBEDDINGS_URL") !== undefined;
  if (isNamed && model === undefined) {
    reader.fault("SVC_EMBEDDINGS_MODEL", "is unset, and SVC_EMBEDDINGS_URL is set; name the model to ask it for");
  }
  reader.parsed("SVC_EMBEDDINGS_KEY", checkKey);
  return url === undefined || model === undefined ? undefined : { url, model };
}

/**
 * Returns the checked address of the endpoint that computes vectors of texts. Throws an Error for a wrong address. The text may contain a
 * password, so error messages do not contain the text.
 */
function parseUrl(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  if (isPlain && url.hash === "") return url.href;
  throw new Error(
    `is not an http or https address without credentials and fragment, such as ${formatValue("https://host/v1/embeddings")}`,
  );
}

function checkKey(text: string): void {
  if (!/^[\x21-\x7e]*$/.test(text))
    throw new Error("has characters that are not visible ASCII, which a header cannot carry");
}
