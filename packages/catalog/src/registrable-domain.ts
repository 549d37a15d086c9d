/** Second labels below which countries let anyone register: `co.uk`, `com.au`, `or.jp`. */
const secondLevels = new Set(
  "ac art asn biz co com edu gob gouv gov gv id inf info int ltd me mil ne net nhs nom nic or org plc sch tm web".split(
    " ",
  ),
);

/**
 * Suffixes below which hosters give names to anyone, so that two names are two owners (the private section of
 * publicsuffix.org). The commonest only: one that is missing reads as a domain of one owner.
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

/** Below these, the name of a region or service stands in front of the suffix: `a.us-east-1.elb.amazonaws.com`. */
const hosterDomains = new Set([
  "amazonaws.com",
  "on.aws",
  "run.app",
  "windows.net",
  "azure.com",
  "elasticbeanstalk.com",
]);

/**
 * The part of a host name that one owner registers, such as `example.co.uk` of `api.example.co.uk`; undefined when there is none:
 * a suffix under which anyone registers, one label, or an address. Knows the usual suffixes and takes no list at run time.
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
