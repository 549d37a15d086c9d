import { isoTime } from "../time/iso-time.ts";
import { type Failure, type FailureRemedy, failureOf } from "./failure.ts";

/**
 * A delivery, or one attempt of it. `error`: the stored error, which begins with a code such as `http_500`. `responseBody`: first bytes of
 * the endpoint's answer. `failingSince`: time since which the endpoint has accepted nothing.
 */
type FailedSend = {
  readonly subscriptionId: string;
  readonly error: string;
  readonly atMs: number;
  /** State of the delivery: `pending` or `dead_letter`. */
  readonly state: string;
  readonly responseBody?: string;
  readonly failingSince?: number | null | undefined;
};

/** Returns why an attempt to send a delivery failed. Undefined if it did not. */
export function deliveryFailure(send: FailedSend): Failure | undefined {
  const { subscriptionId, error, atMs, state, responseBody = "", failingSince } = send;
  if (error === "") return undefined;
  const [code = error] = error.split(/[\s:]/, 1);
  const httpStatus = Number(/^http_(\d{3})$/.exec(code)?.[1] ?? 0);
  const appMessage = firstLine(responseBody);
  const since = typeof failingSince === "number" ? ` to everything since ${isoTime(failingSince)}` : "";
  const quote = appMessage === "" ? "" : ` "${appMessage}"`;
  const answers = `Your endpoint ${since === "" ? "answered" : "answers"} ${httpStatus}${quote}${since}`;
  const title = httpStatus > 0 ? answers : sentenceOf(code, error.slice(code.length).replace(/^[\s:]+/, ""));
  return failureOf("delivery", {
    ...{ code, httpStatus, appMessage, subscriptionId, atMs, title, remedies: remediesOf(code, state) },
  });
}

const lineMax = 200;

/** Returns the first line with text of an endpoint's answer. A page of HTML gives its title. */
function firstLine(body: string): string {
  const text = body.trimStart().startsWith("<") ? (/<title>([^<]*)</i.exec(body)?.[1] ?? "") : body;
  const [line = ""] = text.trim().split(/[\r\n]/, 1);
  return line.length > lineMax ? `${line.slice(0, lineMax)} ...`.toWellFormed() : line;
}

const sentences: Readonly<Record<string, string>> = {
  timeout: "Your endpoint did not answer in time",
  connection_refused: "Your endpoint refused the connection",
  connection_reset: "Your endpoint broke the connection off",
  connection_closed: "Your endpoint closed the connection before it answered",
  dns_not_found: "The host name of your endpoint does not exist",
  dns_unavailable: "The host name of your endpoint could not be looked up",
  host_unreachable: "The host of your endpoint cannot be reached",
  network_unreachable: "The network of your endpoint cannot be reached",
  tls_error: "svc did not accept the certificate of your endpoint",
  address_refused: "svc does not deliver to the address of your endpoint",
  subscription_inactive: "The subscription was turned off or deleted before the delivery succeeded",
  auth_failed: "svc could not get an access token for your endpoint",
  body_invalid: "The body template of the subscription does not fit the event",
};

function sentenceOf(code: string, detail: string): string {
  const after = detail === "" ? "" : `: ${detail}`;
  return `${sentences[code] ?? `The delivery failed (${code})`}${after}`;
}

function remediesOf(code: string, state: string): FailureRemedy[] {
  if (code === "subscription_inactive") return ["resume"];
  const mend: FailureRemedy = ["auth_failed", "body_invalid", "address_refused", "dns_not_found"].includes(code)
    ? "edit_subscription"
    : "repair_endpoint";
  return state === "dead_letter" ? ["resend_delivery", mend] : ["try_endpoint_now", mend];
}
