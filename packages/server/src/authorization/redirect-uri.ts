import { isIPv4 } from "node:net";

const charactersMax = 1_024;
/**
 * Schemes of browsers, of what they load and of what a system opens by itself: a page or a program there would be handed the code, or
 * started with it. None of them is a client's own.
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
/** Beginnings of such schemes: a system's own settings and tools, and what pages register to handle. */
const unsafeBeginning =
  /^(?:ms-|microsoft[.-]|windows|x-apple|com\.apple\.|moz-|chrome-|web\+|ext\+|itms|android|intent)/;

/**
 * What is wrong with an address that a client wants its codes sent to; undefined when it may be: https anywhere, http on this machine, or
 * a scheme of the client's own (RFC 8252).
 */
export function redirectUriFault(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || text.length > charactersMax || !/^[\x21-\x7e]+$/.test(text))
    return `a redirect URI is an absolute URL of at most ${charactersMax} characters`;
  if (text.includes("#")) return "a redirect URI has no fragment";
  if (url.username !== "" || url.password !== "") return "a redirect URI has no user name and no password";
  const isWeb = url.protocol === "https:" || url.protocol === "http:";
  // What else URL lets stand in a host has a meaning where it is named to browsers: in a policy, a semicolon begins another rule.
  if (isWeb && !/^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])$/.test(url.hostname))
    return "the host of a redirect URI is an address, or letters, digits, dots, hyphens and underscores";
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:")
    return isLoopback(url) ? undefined : "a redirect URI with http leads to 127.0.0.1, [::1] or localhost";
  const scheme = url.protocol.slice(0, -1);
  if (!unsafeSchemes.has(scheme) && !unsafeBeginning.test(scheme)) return undefined;
  return `a redirect URI never has the scheme ${url.protocol}, which browsers or systems open; use https, http to this machine, or a scheme of the program's own`;
}

/**
 * Whether a request's redirect URI is one of those that its client has: the same text, character by character. On this machine a program
 * takes whatever port is free, so there the port may be another (RFC 8252, 7.3).
 */
export function isRedirectUriOf(registered: readonly string[], asked: string): boolean {
  return registered.some((one) => one === asked || isSameButPort(one, asked));
}

/** Whether an address leads to the machine of whoever follows it. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  if (protocol !== "http:") return false;
  return hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));
}

function isSameButPort(one: string, asked: string): boolean {
  const [a, b] = [withoutPort(one), withoutPort(asked)];
  return a !== undefined && a === b;
}

/** The text without the port of its loopback host; undefined for anything else, and where URL reads another host than stands there. */
function withoutPort(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || !isLoopback(url)) return undefined;
  const [, host, rest = ""] =
    /^http:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d{1,5})?((?:[/?].*)?)$/.exec(text) ?? [];
  return host === url.hostname ? `http://${host}${rest}` : undefined;
}

/** What people are told of where a code goes: scheme and host, without path and query. */
export function originOfRedirect(redirectUri: string): string {
  const { protocol, origin, host } = new URL(redirectUri);
  if (/^https?:$/.test(protocol)) return origin;
  return host === "" ? protocol : `${protocol}//${host}`;
}
