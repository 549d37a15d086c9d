const shared = new WeakSet<object>();

/**
 * Marks a message that never changes and is sent often, and returns it. Code that writes messages may then cache its text, even if the
 * message is part of another one.
 */
export function shareMessage<Message extends object>(message: Message): Message {
  shared.add(message);
  return message;
}

/** True if the message was marked by `shareMessage`, so that its text may be cached. False otherwise. */
export function isShared(message: object): boolean {
  return shared.has(message);
}
