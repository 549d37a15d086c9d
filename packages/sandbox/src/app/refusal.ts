/** How an app turns down a request that is not what it expects: the caller's fault, so a plain 4xx with a JSON body. */
export type Refusal = {
  readonly status: 400 | 401 | 404 | 405;
  readonly headers?: Readonly<Record<string, string>>;
  /** Each thing that is wrong, naming the place: `body.title is required`. */
  readonly faults: readonly string[];
};

/** A request with faulty parts, all of them at once. */
export function badRequest(faults: readonly string[]): Refusal {
  return { status: 400, faults };
}

/** A path that the app does not serve, or an object that is not there. */
export function notFound(fault: string): Refusal {
  return { status: 404, faults: [fault] };
}

/** A credential that is missing, misplaced or not valid. `challenge` is the scheme of RFC 9110 that would do, empty for a key. */
export function unauthorized(fault: string, challenge = ""): Refusal {
  return { status: 401, ...(challenge !== "" && { headers: { "www-authenticate": challenge } }), faults: [fault] };
}
