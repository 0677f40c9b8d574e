// Search runs in a worker, which a page that was opened from a disk may not have: there its script runs in a frame.
if (location.protocol === "file:")
  window.Worker = class {
    constructor(address) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.documentElement.append(this.frame);
      this.inner = this.frame.contentWindow;
      this.inner.postMessage = data => setTimeout(() => this.onmessage?.({ data }));
      const script = this.inner.document.createElement("script");
      script.src = address;
      this.loaded = new Promise(done => (script.onload = done));
      this.inner.document.body.append(script);
    }
    postMessage(data) {
      this.loaded.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
