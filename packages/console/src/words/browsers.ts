/** Names of browsers, the more specific ones first: most also contain the names of others. */
const browsers: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdg\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\//, "Firefox"],
  [/\bHeadlessChrome\//, "Chrome without a window"],
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

/** Returns the common name for a browser's user agent: `Firefox on Linux`. An unknown one is shown as it is, shortened. */
export function browserWords(userAgent: string): string {
  const find = (names: typeof browsers) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser === undefined)
    return userAgent === "" ? "A browser that does not say what it is" : userAgent.slice(0, 60);
  return system === undefined ? browser : `${browser} on ${system}`;
}
