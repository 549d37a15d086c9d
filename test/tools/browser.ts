/** A page or a redirect that a browser received. */
export type Page = {
  readonly status: number;
  readonly location: string;
  readonly text: string;
  readonly headers: Headers;
};

/** A browser with the features that OAuth needs: it keeps cookies by path. It follows no redirect by itself and runs no scripts. */
export type Browser = {
  open(url: string): Promise<Page>;
  post(url: string, form: Record<string, string>): Promise<Page>;
};

type Cookie = { readonly value: string; readonly path: string; readonly origin: string };

/** Creates a browser without cookies. */
export function openBrowser(): Browser {
  const jar = new Map<string, Cookie>();
  const send = async (url: string, init: RequestInit): Promise<Page> => {
    const { origin, pathname } = new URL(url);
    const fitting = [...jar].filter(([, cookie]) => cookie.origin === origin && pathname.startsWith(cookie.path));
    const cookie = fitting.map(([name, { value }]) => `${name}=${value}`).join("; ");
    const res = await fetch(url, { ...init, redirect: "manual", headers: cookie === "" ? {} : { cookie } });
    for (const line of res.headers.getSetCookie()) keep(jar, origin, line);
    const location = res.headers.get("location") ?? "";
    return {
      status: res.status,
      location: location === "" ? "" : new URL(location, url).href,
      text: await res.text(),
      headers: res.headers,
    };
  };
  return {
    open: (url) => send(url, {}),
    post: (url, form) => send(url, { method: "POST", body: new URLSearchParams(form) }),
  };
}

function keep(jar: Map<string, Cookie>, origin: string, line: string): void {
  const [pair = "", ...attributes] = line.split(/;\s*/);
  const at = pair.indexOf("=");
  const attribute = (name: string) =>
    attributes.find((text) => text.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
  const name = pair.slice(0, at);
  if (attribute("max-age") === "0") jar.delete(name);
  else jar.set(name, { value: pair.slice(at + 1), path: attribute("path") ?? "/", origin });
}

/** Reads the fields and the address of the form in a page. */
export function formOf(page: Page, pageUrl: string): { action: string; fields: Record<string, string> } {
  const action = /<form [^>]*action="([^"]+)"/.exec(page.text)?.[1];
  if (action === undefined) throw new Error(`no form in ${page.status} ${page.text}`);
  const inputs = page.text.matchAll(/<input [^>]*name="([^"]+)" value="([^"]*)"/g);
  return {
    action: new URL(action, pageUrl).href,
    fields: Object.fromEntries([...inputs].map(([, name = "", value = ""]) => [name, value])),
  };
}

/**
 * Goes from the start page through the sandbox's consent page. Returns the callback address that the browser is sent to, without opening
 * it.
 */
export async function consent(browser: Browser, authorizeUrl: string, decision: "allow" | "deny"): Promise<string> {
  const started = await browser.open(authorizeUrl);
  if (started.status !== 302) throw new Error(`the start page answered ${started.status} ${started.text}`);
  const asked = await browser.open(started.location);
  const { action, fields } = formOf(asked, started.location);
  const decided = await browser.post(action, { ...fields, decision });
  if (decided.status !== 302) throw new Error(`the consent page answered ${decided.status} ${decided.text}`);
  return decided.location;
}
