/** Example code that verifies a delivery with the Standard Webhooks library. */
export const verifySnippet = `import { Webhook } from "standardwebhooks"; // npm install standardwebhooks

// body: the bytes of the request as they came, before anything parsed them
const event = new Webhook(process.env.SVC_SIGNING_SECRET).verify(body, headers); // throws when it does not verify`;

const pythonSnippet = `import os
from standardwebhooks.webhooks import Webhook  # pip install standardwebhooks

# body: the bytes of the request as they came, before anything parsed them
event = Webhook(os.environ["SVC_SIGNING_SECRET"]).verify(body, headers)  # raises when it does not verify`;

const sdkSnippet = `import { verifyDelivery } from "@svc/sdk"; // npm install @svc/sdk

// body: the bytes of the request as they came, before anything parsed them; its format is svc
const event = await verifyDelivery(headers, body, process.env.SVC_SIGNING_SECRET); // rejects when it does not verify`;

/** Example code that verifies a delivery, by its language and library. */
export const verifySnippets: readonly { name: string; text: string }[] = [
  { name: "Node, Standard Webhooks", text: verifySnippet },
  { name: "Python, Standard Webhooks", text: pythonSnippet },
  { name: "Node, SDK of svc", text: sdkSnippet },
];
