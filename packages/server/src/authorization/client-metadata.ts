import { isPrintableText } from "@svc/core";
import { redirectUriFault } from "./redirect-uri.ts";

const redirectUrisMax = 10;
const nameCharacters = 100;
/** What is not seen, or turns the direction of what is: a name with it shows as another one. */
const unseen = /\p{Cf}/u;

/** Reads the redirect addresses of a client; what is wrong with them where they are none. */
export function readRedirectUris(value: unknown): string[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > redirectUrisMax)
    return `redirect_uris is a list of 1 to ${redirectUrisMax} addresses`;
  const uris: string[] = [];
  for (const uri of value) {
    const why = typeof uri === "string" ? redirectUriFault(uri) : "a redirect URI is a text";
    if (why !== undefined) return why;
    uris.push(uri);
  }
  return uris;
}

/** Reads what a client calls itself, empty where it says nothing; undefined for what is no name of at most 100 printable characters. */
export function readClientName(value: unknown): string | undefined {
  if (value === undefined) return "";
  const isName = typeof value === "string" && isPrintableText(value, nameCharacters) && !unseen.test(value);
  return isName ? value : undefined;
}
