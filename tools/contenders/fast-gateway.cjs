/** fast-gateway passing bytes. */
const gateway = require('fast-gateway')
const [, , port, provider] = process.argv

const route = { prefix: '/a/api/v2', target: `http://127.0.0.1:${provider}`, prefixRewrite: '/api/v2', pathRegex: '/*' }
gateway({ routes: [route] })
  .start(Number(port), '127.0.0.1')
  .then(() => console.log('listening'))
