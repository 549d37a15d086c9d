import { isIPv4 } from "node:net";
import { isPrintableText } from "@svc/core";

/** An OAuth client: a program, such as an agent, that asks a person for access. */
export type Client = {
  readonly id: string;
  /** Name that the client gave itself; not verified. Empty if it gave none. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /**
   * Host of the client's metadata document (a JSON file in which the client describes itself). Undefined if the client registered itself.
   */
  readonly host: string | undefined;
};

const redirectUrisMax = 10;
const nameCharacters = 100;
/** Pattern for invisible characters and characters that change the writing direction. With them, a name could look like another name. */
const unseen = /\p{Cf}/u;

/** Returns the redirect URIs of a client. If svc does not accept them, returns the reason as a text. */
export function readRedirectUris(value: unknown): string[] | string {
  if (!Array.isArray(value) || value.length === 0 || value.length > redirectUrisMax)
    return `redirect_uris must be a list of 1 to ${redirectUrisMax} addresses`;
  const uris: string[] = [];
  for (const uri of value) {
    const why = typeof uri === "string" ? redirectUriFault(uri) : "a redirect URI is a text";
    if (why !== undefined) return why;
    uris.push(uri);
  }
  return uris;
}

/**
 * Returns the name of a client; an empty text if the client gave none. Undefined if the name is not a text of at most 100 printable
 * characters.
 */
export function readClientName(value: unknown): string | undefined {
  if (value === undefined) return "";
  const isName = typeof value === "string" && isPrintableText(value, nameCharacters) && !unseen.test(value);
  return isName ? value : undefined;
}

const uriCharactersMax = 1_024;
/**
 * URL schemes that browsers or operating systems handle themselves, so no client can own them. With such a redirect URI, a page or another
 * program would receive the authorization code, or be started with it.
 */
const unsafeSchemes = new Set(
  `javascript livescript mocha vbscript jscript data blob about file filesystem view-source wyciwyg jar mhtml mk res resource cid mid urn
  ws wss ftp ftps sftp scp ssh telnet tn3270 rlogin gopher nntp news snews ldap ldaps dict finger rtsp rtmp mms mmst mmsu smb cifs nfs afp dav
  davs webdav vnc rdp irc ircs xmpp git svn rsync
  mailto tel callto sip sips sms smsto mmsto fax modem facetime facetime-audio geo maps map webcal webcals feed im pres
  chrome chrome-error chrome-extension chrome-search chrome-untrusted devtools edge extension opera vivaldi brave safari-extension
  safari-web-extension moz moz-extension moz-icon firefox content package market android android-app app googlechrome intent intents
  itms itms-apps itms-appss itms-services itmss macappstore macappstores prefs app-prefs app-settings settings shortcuts workflow shareddocuments
  applescript help x-help-action x-man-page addressbook message podcast remotedesktop ical calshow
  microsoft-edge shell hcp search search-ms windowsdefender wmplayer zune bingmaps callshow tez upi otpauth otpauth-migration wifi magnet ed2k
  bitcoin ethereum lightning steam`.split(/\s+/),
);
/**
 * Matches the beginning of URL schemes that a client may not use in a redirect address. They are schemes for settings and tools of an
 * operating system, and schemes that web pages can register.
 */
const unsafePrefix = /^(?:ms-|microsoft[.-]|windows|x-apple|com\.apple\.|moz-|chrome-|web\+|ext\+|itms|android|intent)/;

/**
 * Returns the reason why authorization codes may not be sent to a redirect URI, or undefined if they may. Accepted are https, http to the
 * person's own machine, and URL schemes that belong to the client itself (RFC 8252).
 */
export function redirectUriFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || text.length > uriCharactersMax || !/^[\x21-\x7e]+$/.test(text))
    return `a redirect URI must be an absolute URL of at most ${uriCharactersMax} characters`;
  if (text.includes("#")) return "a redirect URI must not have a fragment";
  if (url.username !== "" || url.password !== "") return "a redirect URI must not have a user name or a password";
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  // The class URL accepts more characters in a host. Some of them have a meaning in a content security policy: a semicolon, for example,
  // begins another rule.
  if (isWeb && !/^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/.test(url.hostname))
    return "the host of a redirect URI must be an address, or letters, digits, dots, hyphens and underscores";
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:")
    return isLoopback(url) ? undefined : "a redirect URI with http must lead to 127.0.0.1, [::1] or localhost";
  const scheme = url.protocol.slice(0, -1);
  if (!unsafeSchemes.has(scheme) && !unsafePrefix.test(scheme)) return undefined;
  return `a redirect URI must not have the scheme ${url.protocol}, which browsers or systems open; use https, http to this machine, or a scheme of the program's own`;
}

/**
 * True if a redirect URI is exactly one of the client's registered URIs. For the person's own machine the port may differ, because a
 * program uses any free port there (RFC 8252, 7.3).
 */
export function isRedirectUriOf(registered: readonly string[], asked: string): boolean {
  return registered.some((one) => one === asked || isSameButPort(one, asked));
}

/** True if an http URL leads to the same machine on which it is opened. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  if (protocol !== "http:") return false;
  return hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
}

function isSameButPort(one: string, asked: string): boolean {
  const [a, b] = [withoutPort(one), withoutPort(asked)];
  return a !== undefined && a === b;
}

/**
 * Returns a URL without its port if its host is this machine (for example `http://localhost:4000/cb`). Returns undefined for any other
 * host. Returns undefined also if the URL parser reads another host than the text shows.
 */
function withoutPort(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !isLoopback(url)) return undefined;
  const [, host, rest = ""] =
    /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d{1,5})?((?:[/?].*)?)$/.exec(text) ?? [];
  return host === url.hostname ? `http://${host}${rest}` : undefined;
}

/** Returns the scheme and host of a redirect URI without path and query, to show them to a person. */
export function originOfRedirect(redirectUri: string): string {
  const { protocol, origin, host } = new URL(redirectUri);
  if (/^https?:$/.test(protocol)) return origin;
  return host === "" ? protocol : `${protocol}//${host}`;
}
