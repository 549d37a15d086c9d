/** Labels before a country's domain under which anyone can register a name: `co` in `co.uk`, `com` in `com.au`, `or` in `or.jp`. */
const secondLevels = new Set(
  "ac art asn biz co com edu gob gouv gov gv id inf info int ltd me mil ne net nhs nom nic or org plc sch tm web".split(
    " ",
  ),
);

/**
 * Domain suffixes of hosting providers, such as `github.io`, under which anyone can register a name. Two names under such a suffix have
 * different owners. The list has only the most common suffixes of the private section of publicsuffix.org. A suffix that is missing here is
 * treated as the domain of a single owner.
 */
const hosterSuffixes = new Set(
  `amplifyapp.com appspot.com azure-api.net azurecontainerapps.io azurefd.net azurestaticapps.net azurewebsites.net
  b-cdn.net bitbucket.io blob.core.windows.net blogspot.com cloudapp.azure.com cloudapp.net cloudfront.net
  cloudfunctions.net ddns.net deno.dev digitaloceanspaces.com duckdns.org dyndns.org elasticbeanstalk.com
  firebaseapp.com fly.dev github.dev github.io gitlab.io glitch.me hf.space herokuapp.com loca.lt lhr.life
  myshopify.com netlify.app ngrok-free.app ngrok-free.dev ngrok.app ngrok.dev ngrok.io nip.io now.sh on.aws
  ondigitalocean.app onrender.com pages.dev r2.dev railway.app repl.co replit.app replit.dev run.app s3.amazonaws.com
  sslip.io streamlit.app supabase.co surge.sh trafficmanager.net trycloudflare.com up.railway.app vercel.app
  web.app wixsite.com wordpress.com workers.dev xip.io`.split(/\s+/),
);

/** Domains of hosting providers. Each host below such a domain, for example `a.elb.amazonaws.com`, can belong to a different customer. */
const hosterDomains = new Set([
  "amazonaws.com",
  "on.aws",
  "run.app",
  "windows.net",
  "azure.com",
  "elasticbeanstalk.com",
]);

/**
 * Returns the part of a host name that one owner registers, such as `example.co.uk` for `api.example.co.uk`. Undefined for a public suffix,
 * a single label, or an IP address. Uses only the suffixes listed in this file.
 */
export function registrableDomain(host: string): string | undefined {
  const labels = host.toLowerCase().replace(/\.$/, "").split(".");
  const [second = "", top = ""] = labels.slice(-2);
  if (labels.length < 2 || labels.includes("") || !/[a-z]/.test(top) || host.includes(":")) return undefined;
  if (hosterDomains.has(`${second}.${top}`)) return undefined;
  let suffixLength = secondLevels.has(second) && /^[a-z]{2}$/.test(top) ? 2 : 1;
  for (const length of [2, 3, 4]) if (hosterSuffixes.has(labels.slice(-length).join("."))) suffixLength = length;
  return labels.length > suffixLength ? labels.slice(-suffixLength - 1).join(".") : undefined;
}

/**
 * Names of the deployment's values that a toolkit's definition files may contain as placeholders, such as
 * `{{deployment.provider_base_url}}`.
 */
export const deploymentNames = ["provider_base_url", "auth_url", "token_url", "scope_base"] as const;

/** The deployment's values for one toolkit (one app's tools and webhooks). A value that is not set is absent. */
export type DeploymentValues = Readonly<Partial<Record<(typeof deploymentNames)[number], string>>>;

const deploymentPlaceholder = /\{\{\s*deployment\.(\w+)\s*\}\}/g;
const accountPlaceholder = /\{\{\s*account\.(\w+)\s*\}\}/g;
const keyPlaceholder = /\{\{\s*credential\.key\s*\}\}/g;

/**
 * Placeholder in the path of an app's base URL. For an app that expects the API key in the path (`placement: path`), svc puts the account's
 * key there when it sends a request.
 */
export const keySegment = "{{credential.key}}";

/**
 * Returns a text with the deployment's values in place of the placeholders `{{deployment.…}}`. A placeholder without a value becomes
 * `{name}`.
 */
export function fillInDeployment(text: string, values: DeploymentValues): string {
  return text
    .replace(deploymentPlaceholder, (_match, name: keyof DeploymentValues, offset: number) => {
      const value = values[name] ?? `{${name}}`;
      // If a scheme precedes the placeholder, the inserted address loses its own scheme.
      return text.slice(0, offset).includes("://") ? value.replace(/^https?:\/\//, "") : value;
    })
    .replace(accountPlaceholder, "{{account.$1}}")
    .replace(keyPlaceholder, keySegment);
}

/**
 * True if an account variable can change the domain or the port of a base URL. A person enters its value when connecting an account. A
 * change of only a subdomain or of the path does not count.
 */
export function decidesOrigin(baseUrl: string, variable: string): boolean {
  const placeholder = `{{account.${variable}}}`;
  if (!baseUrl.includes(placeholder)) return false;
  return decidesByText(baseUrl, placeholder) || decidesByParser(baseUrl, placeholder);
}

function decidesByText(baseUrl: string, placeholder: string): boolean {
  // If `{provider_base_url}` is not set, it represents the scheme and the host. faultOfBaseUrl allows only a path after it.
  const schemeEnd = baseUrl.indexOf("://");
  if (schemeEnd >= 0 && baseUrl.indexOf(placeholder) < schemeEnd) return true;
  const rest = schemeEnd < 0 ? baseUrl : baseUrl.slice(schemeEnd + 3);
  const [authority = ""] = rest.split("/");
  const last = authority.lastIndexOf(placeholder);
  if (last < 0) return false;
  // The part of the host after the account variable, without the port. Empty if the variable is in the port.
  const [host = ""] = authority.slice(last + placeholder.length).split(":");
  return !endsInFixedHost(host);
}

/**
 * True if an account variable can change the scheme, domain or port of a base URL, judged by the URL parser. The function puts two
 * different values in place of the variable and compares the resulting URLs.
 */
function decidesByParser(baseUrl: string, placeholder: string): boolean {
  const [one, other] = ["1", "2"].map((probe) => {
    const text = baseUrl.replaceAll(placeholder, probe).replaceAll(/\{\{[^}]*\}\}/g, "3");
    const isWhole = text.startsWith("{provider_base_url}");
    return URL.parse(text.replaceAll(/\{\w+\}/g, `${isWhole ? "https://" : ""}api.provider.example`));
  });
  if (one === null || one === undefined || other === null || other === undefined) return true;
  const domain = registrableDomain(one.hostname);
  return (
    one.protocol !== other.protocol ||
    one.port !== other.port ||
    domain !== registrableDomain(other.hostname) ||
    (domain === undefined && one.hostname !== other.hostname)
  );
}

/** True if the host ends in a fixed domain. A value of the deployment, written as `{name}`, counts as fixed. */
function endsInFixedHost(host: string): boolean {
  const tail = host.slice(host.lastIndexOf("}}") < 0 ? 0 : host.lastIndexOf("}}") + 2);
  if (/^[^.]*[.-](?:[\w-]+\.)*\{\w+\}$/.test(tail)) return true;
  const labels = tail.split(".").slice(1);
  if (!labels.every((label) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/i.test(label))) return false;
  return registrableDomain(labels.join(".")) !== undefined;
}

/** Returns the error of a malformed base URL as [reason, correction]; undefined if the base URL is well formed. */
export function faultOfBaseUrl(baseUrl: string): readonly [reason: string, cure: string] | undefined {
  const text = fillInDeployment(baseUrl, {});
  if (/\{\{\s*(?!account\.|credential\.key\}\})/.test(text)) return undefined; // The check of placeholders reports this.
  if (text.endsWith("/")) return ["ends in /", "remove it: request paths start with /"];
  if (text.split(keySegment).length > 2) return [`has ${keySegment} twice`, "keep one of the two"];
  if (text.includes(keySegment) && !/[^/]\/\{\{credential\.key\}\}(?:\/|$)/.test(text))
    return [`has ${keySegment} outside a path segment of its own`, "write it after the host, between two slashes"];
  const plain = text.replaceAll(/\{\{account\.\w+\}\}/g, "1").replace(keySegment, "1");
  if (text.startsWith("{provider_base_url}")) {
    if (/^\{provider_base_url\}(\/[^?#\s@{}]*)?$/.test(plain)) return faultOfPath(plain.slice(plain.indexOf("}") + 1));
    return ["does not follow {{deployment.provider_base_url}} with a path", "write nothing after it except /, a path"];
  }
  // The placeholders of the URL are replaced by samples, so that the URL can be parsed. Variables of an account have become 1, which is
  // valid as a port and as a label. Values of the deployment become a host.
  const filled = plain.replaceAll(/\{\w+\}/g, "provider.example");
  const url = URL.parse(filled);
  const isLoopback = url !== null && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url === null || (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback))) {
    return [
      "is not an https address",
      "start it with https:// (http:// to loopback only) or {{deployment.provider_base_url}}",
    ];
  }
  if (/[?#@\s]/.test(plain))
    return ["carries a query, fragment or credentials", "leave scheme, host, port and path only"];
  // The URL parser also accepts missing slashes and backslashes. A host that only the parser recognizes could not be checked here.
  const path = /^https?:\/\/(?:[a-z0-9._-]+|\[::1\])(?::\d{1,5})?((?:\/.*)?)$/i.exec(filled)?.[1];
  if (path === undefined) return ["does not spell out its host", "write https://, host, port and path, in ASCII"];
  return faultOfPath(path);
}

function faultOfPath(path: string): readonly [reason: string, cure: string] | undefined {
  if (isPlainPath(path)) return undefined;
  return ["has a path with a backslash, an empty or a dot segment", "write the path exactly as svc must send it"];
}

/**
 * True if proxies and URL parsers keep a path unchanged. The path has no backslash, no empty segment except the last one, and no segment of
 * one or two dots.
 */
export function isPlainPath(path: string): boolean {
  return !/\\|\/\/|\/(?:\.|%(?:25)*2e){1,2}(?:\/|$)/i.test(path);
}
