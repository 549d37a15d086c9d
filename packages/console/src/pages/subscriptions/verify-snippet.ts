const verifySnippet = `import { Webhook } from "standardwebhooks"; // npm install standardwebhooks

// body: the bytes of the request as they came, before anything parsed them
const event = new Webhook(process.env.SIGNING_SECRET).verify(body, headers); // throws when it does not verify`;

const pythonSnippet = `import base64, hashlib, hmac, json, os, time

def verify(body, headers):
    key = base64.b64decode(os.environ["SIGNING_SECRET"].removeprefix("whsec_"))
    sent_at = headers["webhook-timestamp"]
    signed = f"{headers['webhook-id']}.{sent_at}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    is_signed = any(hmac.compare_digest(expected, one) for one in headers["webhook-signature"].split())
    if not is_signed or abs(time.time() - int(sent_at)) > 300:
        raise ValueError("not a recent request that is signed with this secret")
    return json.loads(body)

# body: the bytes of the request as they came, before anything parsed them
event = verify(body, headers)  # raises when it does not verify`;

const sdkSnippet = `import { verifyDelivery } from "@svc/sdk"; // npm install @svc/sdk

// body: the bytes of the request as they came, before anything parsed them; its format is svc
const event = await verifyDelivery(headers, body, process.env.SIGNING_SECRET); // rejects when it does not verify`;

/**
 * Example code that verifies a delivery, by its language and library. `isForCustomer`: true if customers of the project see the example
 * too. Examples with the SDK of svc are only for the project.
 */
export const verifySnippets: readonly { name: string; text: string; isForCustomer: boolean }[] = [
  { name: "Node, Standard Webhooks", text: verifySnippet, isForCustomer: true },
  { name: "Python, without a library", text: pythonSnippet, isForCustomer: true },
  { name: "Node, SDK of svc", text: sdkSnippet, isForCustomer: false },
];
