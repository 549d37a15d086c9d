/**
 * The names of browsers by a pattern of the user agent. More specific patterns come first, because most user agents also contain the names
 * of other browsers.
 */
const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\bHeadlessChrome\//, "Headless Chrome"],
  [/\bChrome\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const systems: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bAndroid\b/, "Android"],
  [/\b(?:iPhone|iPad)\b/, "iOS"],
  [/\bMac OS X\b/, "macOS"],
  [/\bWindows\b/, "Windows"],
  [/\bLinux\b/, "Linux"],
];

/** Returns the common name for a user agent (for example `Firefox on Linux`). An unknown user agent is returned in a shortened form. */
export function browserWords(userAgent: string): string {
  const find = (names: typeof browsers) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser === undefined) return userAgent === "" ? "Unknown browser" : userAgent.slice(0, 60);
  return system === undefined ? browser : `${browser} on ${system}`;
}
