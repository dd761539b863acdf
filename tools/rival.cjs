/** fast-gateway passing bytes: the same path in front of the same provider. */
const gateway = require('fast-gateway')
const [, , port, upstream] = process.argv

const route = { prefix: '/a/api/v2', target: `http://127.0.0.1:${upstream}`, prefixRewrite: '/api/v2', pathRegex: '/*' }
gateway({ routes: [route] })
  .start(Number(port), '127.0.0.1')
  .then(() => console.log('listening'))
