/** A picture of one red pixel and a silent sound, in Base64. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

export const text = (value: string) => ({ type: "text", text: value });
export const image = { type: "image", data: png, mimeType: "image/png" };
export const audio = { type: "audio", data: wav, mimeType: "audio/wav" };
export const embedded = (uri: string, mimeType: string, value: string) => ({
  type: "resource",
  resource: { uri, mimeType, text: value },
});
