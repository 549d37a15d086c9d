import { expect, test } from "vitest";
import { redirectUriFault } from "./clients.ts";

test.each([
  "https://agent.example/cb?of=1",
  "https://xn--bcher-kva.example:8443/cb",
  "https://[2001:db8::1]/cb",
  "http://127.0.0.1:50001/cb",
  "http://[::1]/cb",
  "com.example.agent:/cb",
])("%s may be led to", (uri) => {
  expect(redirectUriFault(uri)).toBeUndefined();
});

test.each(["cursor://agent/cb", "vscode://publisher.agent/cb", "claude:/cb", "com.example.agent.app:/oauth"])(
  "%s, a program's own scheme, may be led to",
  (uri) => {
    expect(redirectUriFault(uri)).toBeUndefined();
  },
);

test.each(
  `javascript:alert(1) JavaScript:alert(1) data:text/html,x vbscript:x blob:https://a/x about:blank file:///etc/passwd filesystem:x view-source:x
  jar:x mhtml:x res:x cid:x ftp://a/x sftp://a/x ssh://a telnet://a ldap://a smb://a/x nfs://a vnc://a rdp://a mailto:a@b tel:1 callto:1 sip:1 sms:1
  facetime:a geo:0,0 maps:x webcal:x chrome://x chrome-extension://x edge://x moz-extension://x safari-web-extension://x content://x market://x
  android-app://x intent://x#y itms-services:x itms-apps:x app-prefs:x shortcuts:x x-apple.systempreferences:x x-man-page:x ms-settings:x
  ms-word:ofe ms-officecmd:x ms-msdt:x search-ms:x microsoft-edge:x microsoft.windows.camera:x shell:x web+app:x ext+x:y com.apple.x:y magnet:x
  android.intent:x view-source:https://a ws://a wss://a urn:x`.split(/\s+/),
)("%s belongs to browsers or systems, and is refused", (uri) => {
  expect(redirectUriFault(uri)).toMatch(/must not have the scheme|must not have a fragment/);
});

test.each([
  "https://a;sandbox.example/cb",
  "https://a,b.example/cb",
  "https://*.example/cb",
  "https://a%3bsandbox.example/cb",
  "https://a'b.example/cb",
  "https://a{b.example/cb",
])("%s would write a rule of its own into the policy of the page that asks, and is refused", (uri) => {
  expect(redirectUriFault(uri)).toMatch(/^the host of a redirect URI/);
});
