/**
 * The end of one call: its client disconnects, its time is over, the server stops, or it is answered. It does what an AbortController does,
 * and creates one only for a call that reads `signal`. Most calls do not, and the controller with its event is a tenth of a small call.
 */
export class CallEnding {
  #ended: { readonly reason: unknown } | undefined;
  #controller: AbortController | undefined;
  #reject: ((reason: unknown) => void) | undefined;

  /** The signal that is aborted at the end of the call, with the reason of the end. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#ended !== undefined) this.#controller.abort(this.#ended.reason);
    }
    return this.#controller.signal;
  }

  /** Ends the call. Only the first reason counts. */
  end(reason: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = { reason };
    this.#reject?.(reason);
    this.#controller?.abort(reason);
  }

  /** Settles like `result`, or rejects with the reason of the end if the call ends first. A call has one such result. */
  until<Result>(result: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) reject(this.#ended.reason);
      else this.#reject = reject;
      result.then(resolve, reject);
    });
  }
}
