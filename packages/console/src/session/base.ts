/** Address of the console, such as `https://svc.example/console/`, taken from `<base href>`. */
export const consoleBase: URL = new URL("./", document.baseURI);

/** Address of the service: the folder above the console, without a slash at the end. */
export const serviceBase: string = new URL("../", consoleBase).href.replace(/\/$/, "");

/** True if the page says that an emulator answers in place of the apps; the service writes that into the page. */
export const isSandboxPage: boolean = document.querySelector('meta[name="svc-sandbox"]') !== null;
