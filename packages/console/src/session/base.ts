/** Where the console is served, such as `https://svc.example/console/`: `<base href>` says it. */
export const consoleBase: URL = new URL("./", document.baseURI);

/** Where the service takes calls: the folder above the console, without a slash at the end. */
export const serviceBase: string = new URL("../", consoleBase).href.replace(/\/$/, "");

/** Whether the page says that an emulator answers in place of the apps: the service writes that into it. */
export const isSandboxPage: boolean = document.querySelector('meta[name="svc-sandbox"]') !== null;
