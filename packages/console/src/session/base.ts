/** Address of the console (for example `https://svc.example/console/`). The page's `<base href>` determines it. */
export const consoleBase: URL = new URL("./", document.baseURI);

/** Address of the service, without a slash at the end: the folder that contains the console. */
export const serviceBase: string = new URL("../", consoleBase).href.replace(/\/$/, "");

/** True if an emulator answers in place of the apps (sandbox). The service writes this fact into the page. */
export const isSandboxPage: boolean = document.querySelector('meta[name="svc-sandbox"]') !== null;

/** True if people sign in with accounts of the company's identity provider. The service writes this fact into the page. */
export const hasCompanyAccounts: boolean = document.querySelector('meta[name="svc-accounts"]') !== null;
