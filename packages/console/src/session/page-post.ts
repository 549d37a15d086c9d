import { consoleBase } from "./base.ts";

/**
 * An error that the service returned to a page of the console. `message`: the error. `help`: how to correct it. `reason`: its code.
 * `field`: the form field with the error. A missing part is an empty text.
 */
export type PageRefusal = { message: string; help: string; reason: string; field: string };

/** The answer of a path of the console that is not part of the API: its JSON, or the error with which the service refused the request. */
export type PostAnswer = { answer: unknown } | { refusal: PageRefusal };

/**
 * Posts JSON to one of the console's own paths (`session`, `answer`, `connect`), which are not part of the API. Returns the answer or the
 * refusal. Never rejects.
 */
export async function postPage(
  path: string,
  body: unknown,
  { method = "POST", headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<PostAnswer> {
  let response: Response;
  try {
    response = await fetch(new URL(path, consoleBase), {
      method,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  } catch {
    const help = "Check that it is running and that this device is online, then try again.";
    return { refusal: { message: "The service cannot be reached.", help, reason: "UNREACHABLE", field: "" } };
  }
  const answer: unknown = await response.json().catch(() => undefined);
  return response.ok ? { answer } : { refusal: refusalOf(answer, response.status) };
}

function refusalOf(answer: unknown, status: number): PageRefusal {
  const { message, details } = (answer ?? {}) as { message?: string; details?: { debug?: Partial<PageRefusal> }[] };
  const { help = "", reason = "", field = "" } = details?.[0]?.debug ?? {};
  return { message: message ?? `The service answered ${status}.`, help, reason, field };
}
